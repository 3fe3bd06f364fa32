package cli

import (
	"fmt"
	"io"
	"strings"
)

// Completion writes the shell completion of all commands. Job identifiers are
// completed by asking qstat.
func Completion(env *Env, args []string, commands []*Command) int {
	if len(args) != 1 || args[0] != "bash" {
		fmt.Fprintln(env.Stderr, "usage: pbs completion bash")
		return 2
	}
	io.WriteString(env.Stdout, completionHead)
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
		fmt.Fprintf(env.Stdout, "complete -o default -F _pbs_complete %s\n", c.Name)
	}
	fmt.Fprintf(env.Stdout, "complete -W %q pbs\n", strings.Join(append(names, "completion"), " "))
	fmt.Fprintln(env.Stdout, "_pbs_options() {\n\tcase $1 in")
	for _, c := range commands {
		fmt.Fprintf(env.Stdout, "\t%s) echo %q ;;\n", c.Name, strings.Join(c.completions(), " "))
	}
	fmt.Fprintln(env.Stdout, "\tesac\n}")
	return 0
}

func (c *Command) completions() []string {
	words := []string{"--version"}
	for _, name := range c.OptionNames() {
		if _, dashed := c.Grammar.Dashed[name]; len(name) == 1 || dashed {
			words = append(words, "-"+name)
		} else {
			words = append(words, "--"+name)
		}
	}
	return words
}

const completionHead = `# bash completion for the PBS commands
_pbs_complete() {
	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[0]##*/}
	case $word in
	-*) COMPREPLY=($(compgen -W "$(_pbs_options "$command")" -- "$word")) ;;
	[0-9]*) COMPREPLY=($(compgen -W "$(qstat 2>/dev/null | awk 'NR > 2 { print $1 }')" -- "$word")) ;;
	esac
}
`
