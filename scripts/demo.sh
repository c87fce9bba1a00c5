#!/bin/sh
# The main jobs on the shipped model, in a few minutes: demo.sh PROGRAM [FOLDER]
# A law is found in noisy measurements; famous formulas and noisy data for them are brought together in
# the shared space; candidates are ranked and a wrong one is explained; the model is measured on 10,000
# held-out pairs.
set -eu
snip=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
out=${2:-demo}
mkdir -p "$out"
cd "$out"

say() { printf '\n== %s\n\n' "$1"; }
run() { # shows a command as one would type it, then runs it
    printf '$ snip'
    for word in "$@"; do
        case $word in
        *[!A-Za-z0-9_./=-]*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$snip" "$@"
}

say "100 noisy measurements of the force between two masses: which law is it?"
awk 'BEGIN { srand(3); print "mass_1,mass_2,distance,force"
    for (i = 0; i < 100; i++) {
        m = 1 + 9*rand(); n = 1 + 9*rand(); r = 1 + 4*rand()
        noise = 2*sqrt(-2*log(1 - rand()))*cos(6.2831853*rand())
        printf "%.4g,%.4g,%.4g,%.4g\n", m, n, r, 6.674*m*n/r^2 + noise } }' > gravity.csv
printf '$ head -n 4 gravity.csv\n'
head -n 4 gravity.csv
run fit gravity.csv --evals 200000
printf '\n> marks the formula selected. The table was made with 6.674*mass_1*mass_2/distance^2.\n'

# name, formula of a and b, range of a, range of b
cat > laws.tsv <<'LAWS'
kinetic energy	0.5*a*b^2	1 5	1 10
pendulum	2*pi*sqrt(a/b)	0.1 3	2 20
ideal gas	8.314*a/b	2 4	0.5 3
Boltzmann	exp(-a/b)	0.5 4	0.5 3
projectile	a^2*sin(2*b)/9.81	5 20	0.1 1.5
thin lens	1/(1/a + 1/b)	1 10	1 10
relativity	a/sqrt(1 - b^2)	1 5	0.01 0.95
oscillator	exp(-0.4*a)*cos(3*a + b)	0.1 4	0.1 3
enzyme	a*b/(0.7 + b)	1 5	0.05 4
LAWS
cut -f2 laws.tsv > laws.txt
cut -f1,2 laws.tsv > named.txt

# 120 rows each; the target gets noise of 5 % of its deviation.
tables=""
n=0
while IFS="$(printf '\t')" read -r name formula a b; do
    n=$((n + 1))
    awk -v seed="$n" -v a="$a" -v b="$b" 'BEGIN {
        split(a, p, " "); split(b, q, " "); srand(seed); print "a,b"
        for (i = 0; i < 120; i++)
            printf "%.6g,%.6g\n", p[1] + rand()*(p[2] - p[1]), q[1] + rand()*(q[2] - q[1]) }' > inputs.csv
    "$snip" calc "$formula" inputs.csv > values.txt
    awk -v seed="$n" 'BEGIN { srand(100 + seed) } { y[NR] = $1; s += $1; ss += $1*$1 }
        END { d = sqrt(ss/NR - (s/NR)^2); print "target"
              for (i = 1; i <= NR; i++)
                  printf "%.6g\n", y[i] + .05*d*sqrt(-2*log(1 - rand()))*cos(6.2831853*rand()) }' \
        values.txt | paste -d, inputs.csv - > "data$n.csv"
    tables="$tables data$n.csv"
done < laws.tsv
rm -f inputs.csv values.txt

say "Nine famous formulas, and 120 noisy measurements for each (5 % noise)"
cat named.txt
printf '\n$ head -n 4 data1.csv\n'
head -n 4 data1.csv

say "How well each formula (row) agrees with each table (column): cosine in the shared space
   [..] is the table's best formula, a * the formula's best table"
: > cosines.csv
for table in $tables; do
    "$snip" rank "$table" laws.txt --as-given --format json -q | tr '{' '\n' | awk -v t="$table" '
        /"similarity":[-0-9]/ { match($0, /"place":[0-9]+/); p = substr($0, RSTART + 8, RLENGTH - 8)
                                match($0, /"similarity":[-0-9.e]+/)
                                print t, p, substr($0, RSTART + 13, RLENGTH - 13) }' >> cosines.csv
done
awk -v n="$n" '
    { sub(/^data/, "", $1); sub(/\.csv$/, "", $1); c[$2, $1] = $3 }
    END {
        printf "%-16s", ""; for (t = 1; t <= n; t++) printf "%8s", "data" t; print ""
        for (t = 1; t <= n; t++) for (f = 1; f <= n; f++) {
            if (!((f, t) in c)) continue # not defined on all rows
            if (!(t in bf) || c[f, t] > c[bf[t], t]) bf[t] = f
            if (!(f in bt) || c[f, t] > c[f, bt[f]]) bt[f] = t }
        while ((getline line < "named.txt") > 0) { split(line, part, "\t"); name[++k] = part[1] }
        for (f = 1; f <= n; f++) {
            printf "%-16s", name[f]
            for (t = 1; t <= n; t++)
                printf "%8s", !((f, t) in c) ? "-" : (bf[t] == f ? "[" : "") sprintf("%.2f", c[f, t]) \
                              (bf[t] == f ? "]" : "") (bt[f] == t ? "*" : "")
            print "" }
        for (i = 1; i <= n; i++) { right += bf[i] == i; back += bt[i] == i }
        printf "\nThe right formula is found for %d of %d tables, the right table for %d of %d formulas.\n",
               right, n, back, n }' cosines.csv

say "Candidates for the pendulum's table: constants refitted, a quarter of the rows held out"
cat > candidates.txt <<'CANDIDATES'
1.0*sqrt(a/b)
1.0*a/b
1.0*a + 1.0*b
1.0*log(a*b)
1.0*sqrt(a)*exp(-0.1*b)
1.0*sin(a) + 1.0/b
1.0*a^2/b
CANDIDATES
run rank data2.csv candidates.txt

say "Controlled edits of the enzyme's formula, none refitted: where does the true one stand?"
"$snip" edits 'a*b/(0.7 + b)' --table data9.csv --target target --max 8 --json |
    tr '{' '\n' | sed -n 's/.*"infix":"\([^"]*\)".*/\1/p' > edits.txt
printf 'a*b/(0.7 + b)\n' >> edits.txt
"$snip" rank data9.csv edits.txt --as-given > ranked.txt
head -n 6 ranked.txt
awk 'NR > 1 && / a\*b\/\(0.7 \+ b\)$/ { printf "the true one is number %d of ", $1 }
     END { print NR - 1 }' ranked.txt

say "A wrong formula for the oscillator (sin in place of cos): which part is to be changed?"
run explain data8.csv 'exp(-0.4*a)*sin(3*a + b)' --as-given --top 5

say "The model measured among 10,000 held-out pairs and on edits of 128 held-out formulas, beside the paper"
model=$(dirname "$snip")/../models/default.safetensors
"$snip" evaluate --model "$model" --suite global --suite edits --pairs 10000 --out evaluation

say "Where to look next"
cat <<NEXT
  $out/evaluation/report.html    the figures of this run, as a page
  $out/data2.csv, candidates.txt play with them: snip rank data2.csv candidates.txt --format latex
  $out/gravity.csv               snip fit gravity.csv --json, or snip serve gravity.csv --open
  docs/tutorial.md               from a CSV file to an explained formula
  docs/results.md                all results beside the paper's
  snip help, man snip            all commands
NEXT
