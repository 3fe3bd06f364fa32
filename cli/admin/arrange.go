package admin

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Arrange returns the words of a command line with the options of each command before its operands, as the parser wants
// them: people write `why 4 --when` as well. What stands behind "--" is an operand, whatever it looks like. The first word is the
// program's name.
func Arrange(app *cli.App, words []string) []string {
	if len(words) == 0 || words[len(words)-1] == completion {
		return words // the word before the last is what is to be completed
	}
	arranged, operands := words[:1:1], []string(nil)
	flags, commands := app.Flags, app.Commands
	for rest := words[1:]; len(rest) > 0; {
		word := rest[0]
		rest = rest[1:]
		switch {
		case word == "--":
			return slices.Concat(arranged, []string{"--"}, operands, rest)
		case len(word) > 1 && word[0] == '-':
			arranged = append(arranged, word)
			switch {
			case !takesNext(flags, word):
			case len(rest) == 0:
				return arranged // which is refused: an operand is not its value
			default:
				arranged, rest = append(arranged, rest[0]), rest[1:]
			}
		default:
			n := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) })
			if n < 0 || len(operands) > 0 {
				operands = append(operands, word)
				continue
			}
			arranged = append(arranged, word)
			flags, commands = commands[n].Flags, commands[n].Subcommands
		}
	}
	return append(arranged, operands...)
}

// completion asks for the words that may come next; it is urfave/cli's.
const completion = "--generate-bash-completion"

// takesNext reports whether the word behind an option is its value. One that is not known takes none: it is refused.
func takesNext(flags []cli.Flag, option string) bool {
	name := strings.TrimPrefix(option[1:], "-")
	for _, f := range flags {
		if d, ok := f.(cli.DocGenerationFlag); ok && slices.Contains(f.Names(), name) {
			return d.TakesValue()
		}
	}
	return false
}
