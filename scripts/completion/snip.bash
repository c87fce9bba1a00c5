# Completion for bash: source this file, or let `make install` put it where bash looks.
# The program is asked what it knows (snip help --complete), so nothing is listed here.

# _snip_offer WORD...: adds the words that go on with what is typed, which is $typed.
_snip_offer() {
    local word
    for word; do
        if [[ $word == "$typed"* ]]; then
            COMPREPLY+=("$word")
        fi
    done
}

# _snip_ask [COMMAND]: the lines that the program answers. A ~ is expanded, since readline has not.
_snip_ask() {
    "${COMP_WORDS[0]/#\~/$HOME}" help --complete "$@" 2>/dev/null
}

_snip_commands() {
    local name about
    while IFS=$'\t' read -r name about; do
        _snip_offer "$name"
    done < <(_snip_ask)
}

# The value of an option: one of its choices, nothing for a number, otherwise a file or folder.
_snip_value() {
    local kind=$1 value=$2 choices=$3
    case $kind in
        choice | choices) _snip_offer $choices ;;
        count) ;;
        *) compopt -o "$([[ $value == DIR ]] && echo dirnames || echo default)" 2>/dev/null ;;
    esac
}

_snip() {
    local typed=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} option="" at=$COMP_CWORD
    local name kind value choices about
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _snip_commands
        _snip_offer --help --version
        return
    fi
    # --name value, and --name=value, which readline splits into three.
    [[ $typed == = ]] && typed="" || at=$((at - 1))
    [[ ${COMP_WORDS[at]} == = ]] && at=$((at - 1))
    ((at > 1)) && option=${COMP_WORDS[at]}

    while IFS=$'\t' read -r name kind value choices about; do
        if [[ $name == "$option" && $name == --* && $kind != flag ]]; then
            COMPREPLY=()
            _snip_value "$kind" "$value" "$choices"
            return
        fi
        [[ $typed == -* || $kind == word ]] && _snip_offer "$name"
    done < <(_snip_ask "$command")
    [[ $command == help && $typed != -* ]] && _snip_commands
    [[ ${#COMPREPLY[@]} -eq 0 && $typed != --* ]] && compopt -o default 2>/dev/null
    return 0
}

complete -F _snip snip
