#!/usr/bin/env bash
# What an installation leaves, and that it works: install.sh PROGRAM BUILD SOURCE COMMAND...
# COMMAND... are those that the build makes manual pages for; CFLAGS holds a sanitizer's, if any.
set -u
. "$(dirname "$0")/judge.sh"
build=$(realpath "$2") source=$(realpath "$3")
start "$1"
shift 3

# installed NAME VARIABLE: the file must be there and hold something; VARIABLE becomes its path.
installed() {
    local path
    path=$(find root -path "*/$1" | head -n 1)
    [ -n "$path" ] && [ -s "$path" ] && good || bad "$1 is not installed"
    printf -v "$2" '%s' "$path"
}

command -v meson >/dev/null || { echo "there is no meson here"; exit 77; }
meson install --no-rebuild -C "$build" --destdir "$work/root" >log 2>&1 ||
    { bad "meson install fails: $(tail -n 3 log)"; exit 1; }

installed bin/snip program
installed include/snip.h header
installed pkgconfig/snip.pc package
installed man/man1/snip.1 page
installed bash-completion/completions/snip bash_completion
installed zsh/site-functions/_snip zsh_completion
version=$("$program" --version | cut -d' ' -f2)
for name in libsnip.so "libsnip.so.${version%%.*}" "libsnip.so.$version"; do
    installed "$name" library
done
# The library's name for programs, and what it shows them: the functions of the header.
if command -v objdump >/dev/null && command -v nm >/dev/null; then
    objdump -p "$library" | grep -qE "SONAME +libsnip\.so\.${version%%.*}$" && good ||
        bad "soname: $(objdump -p "$library" | grep SONAME)"
    shown=$(nm -D --defined-only "$library" | sed 's/.* //' | sort)
    declared=$(grep -oE '\bsnip_[a-z_]+\(' "$header" | tr -d '(' | sort -u)
    [ "$shown" = "$declared" ] && good ||
        bad "the library and snip.h differ: $(diff <(echo "$shown") <(echo "$declared") | xargs)"
fi
[ "$version" = "$("$snip" --version | cut -d' ' -f2)" ] && good || bad "another version is installed"

# Manual pages: one a command, and the build's list is the program's.
[ "$("$snip" help --complete | cut -f1 | sort)" = "$(printf '%s\n' "$@" | sort)" ] && good ||
    bad "the commands in meson.build are not those of the program: $("$snip" help --complete | cut -f1 | xargs)"
for name in snip $("$snip" help --complete | cut -f1 | sed 's/^/snip-/'); do
    installed "man/man1/$name.1" page
    [ -s "$page" ] || continue
    plain=${name//-/\\\\-}
    head -n 1 "$page" | grep -q "^\.TH ${plain^^} 1 \"\" \"snip $version\"" && good || bad "$name: no .TH"
    sed -n '2,3p' "$page" | tr '\n' ' ' | grep -q "^\.SH NAME $plain \\\\- [a-z]" && good || bad "$name: no NAME line"
    grep '^\.' "$page" | grep -qvE '^\.(TH|SH|PP|TP|br|EX|EE)\b' && bad "$name: a line is taken for a request" || good
    grep -qE "^'|(^|[^\\])-" "$page" && bad "$name: a quote or a hyphen is not escaped" || good
    for section in SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'EXIT STATUS' 'SEE ALSO'; do
        grep -q "^\.SH $section$" "$page" && good || bad "$name: no section $section"
    done
    if command -v man >/dev/null && man -l /dev/null >/dev/null 2>&1; then
        said=$(man --warnings -l "$page" 2>&1 >/dev/null)
        [ -z "$said" ] && good || bad "$name: man says $said"
    fi
done
# What --help shows is on the page, an option each.
for command in "$@"; do
    help=$("$snip" "$command" --help | grep -oE '^  (-[a-z], )?--[a-z-]+' | sed 's/.* //' | sort)
    man=$("$snip" help --man "$command" | sed -nE 's/^(\\fB\\-[a-z]\\fR, )?\\fB(\\-\\-[^ ]*)\\fR.*/\2/p' | tr -d '\\' | sort)
    words=$("$snip" help --complete "$command" | cut -f1 | grep -e '^--' | sort)
    [ "$help" = "$man" ] && [ "$help" = "$words" ] && good || bad "$command: page, help and completion differ"
done
[ "$("$snip" help --man calc)" = "$("$snip" calc --man)" ] && good || bad "calc --man is another page"

# A user's program, with nothing but what was installed.
if command -v pkg-config >/dev/null && command -v "${CC:-cc}" >/dev/null; then
    export PKG_CONFIG_LIBDIR=$PWD/${package%/*} PKG_CONFIG_SYSROOT_DIR=$PWD/root
    flags=$(pkg-config --cflags --libs snip) || bad "pkg-config does not know snip"
    [ "$(pkg-config --modversion snip)" = "$version" ] && good || bad "pkg-config tells another version"
    "${CC:-cc}" ${CFLAGS:-} "$source/examples/evaluate.c" $flags -o user 2>err && good ||
        bad "a program does not build: $(head -n 3 err)"
    said=$(LD_LIBRARY_PATH=${library%/*} ./user 'x0^2' 2>&1 | tail -n 1)
    [ "$said" = '9 of 9 finite' ] && good || bad "a program says '$said'"
fi

# Python finds the library and the model that were installed beside it.
installed snip/python/snip.py module
installed snip/default.safetensors model
if /usr/bin/python3 -c 'import numpy' 2>/dev/null && [ -z "${CFLAGS:-}" ]; then
    said=$(unset SNIP_MODEL; PYTHONPATH=${module%/*} /usr/bin/python3 -B -c 'import snip
print(snip.library_version(), snip.Formula("x0^2")(3.0), snip._lib._name, snip.Model().path)' 2>&1)
    [ "$said" = "$version 9.0 $(realpath "$library") $(realpath "$model")" ] && good ||
        bad "Python says '$said'"
fi

# completes WORDS EXPECTED...: what bash offers after the typed words, of which the last is open.
cat >ask.sh <<'END'
source "$1"; shift
PATH=$1:$PATH; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_snip && echo "${COMPREPLY[@]}"
END
completes() {
    local want=$1 got; shift
    got=$(bash --norc ask.sh "$bash_completion" "$PWD/${program%/*}" snip "$@" 2>&1)
    [ "$got" = "$want" ] && good || bad "snip $* completes to '$got', expected '$want'"
}
completes 'train' tr
completes 'help' he
completes '--help --version' --
completes '--stage --steps' train --st
completes '--resume' train --preset tiny --r
completes 'S0 S1 S2 S3 S4 S5' bench --stage ''
completes 'S0 S1 S2 S3 S4 S5' bench --stage =
completes 'paper' train --preset p
completes 'S5' train --stage S5
completes 'edits' evaluate --suite probes --suite ed
completes 'unary_swap' edits x0 --family = un
completes 'unary_swap' edits x0 --family un
completes 'published' corpora --sampling p
completes 'feynman' corpora f
completes 'gen eval fit-eval train rank find embed batch cure' bench ''
completes 'calc corpora' help c
completes 'calc corpora' help --man c
completes '--man' help --m
completes '' train --steps ''
completes '' train --out ''
completes '' calc x0 ''
completes '' nosuch --
completes '' zz

finish
