package admin

import (
	"context"
	"fmt"
	"io"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"
)

// Operand returns the only operand of a command. The error says what is wrong: there is none, or one too many.
func Operand(c *cli.Context, command, what string) (string, error) {
	word, err := OperandAtMost(c, command)
	if err == nil && word == "" {
		err = fmt.Errorf("%s: name one %s", command, what)
	}
	return word, err
}

// OperandAtMost is Operand where it may be left out.
func OperandAtMost(c *cli.Context, command string) (string, error) {
	if c.NArg() > 1 {
		return "", fmt.Errorf("%s: %q is one word too many", command, c.Args().Get(1))
	}
	return c.Args().First(), nil
}

// do makes a change under a request id (L8), and prints what came of it.
func do[Q, A any](ctx context.Context, env *Env, command string, method func(context.Context, *connect.Request[Q]) (*connect.Response[A], error), q *Q, tell func(*A) string) error {
	reply, err := method(env.WithRequestID(ctx), connect.NewRequest(q))
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	_, err = io.WriteString(env.Stdout, tell(reply.Msg))
	return err
}
