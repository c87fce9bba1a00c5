# What the tests of sources and documents share, to be sourced in bash.
shopt -s lastpipe # so that none() can set `failed` at the end of a pipe
failed=0

# none WHAT: lines on standard input are offences.
none() {
    local found; found=$(cat)
    [ -z "$found" ] || { echo "FAILED: $1:"; echo "$found"; failed=1; }
}
