package admin

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/transport/api"
)

// shortID is how much of a token's id or a key is shown: enough to name it.
const shortID = 16

func tokenListCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "tell which tokens still let somebody in; the secrets themselves are nowhere",
		Flags: []cli.Flag{serverFlag},
		Action: func(c *cli.Context) error {
			return ListTokens(c.Context, env, c.String("server"))
		},
	}
}

// ListTokens prints the tokens that are still good.
func ListTokens(ctx context.Context, env *Env, server string) error {
	client, err := env.Trust(server)
	if err != nil {
		return err
	}
	reply, err := client.ListTokens(ctx, connect.NewRequest(&api.ListTokensRequest{}))
	if err != nil {
		return fmt.Errorf("token list: %w", err)
	}
	return tokenTable(env.Stdout, reply.Msg.GetTokens())
}

func tokenTable(w io.Writer, tokens []*api.TokenInfo) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tROLE\tHOST\tCREATED\tEXPIRES\tNOTES")
	for _, tok := range tokens {
		notes := ""
		if tok.GetReusable() {
			notes = "reusable"
		}
		if tok.GetSubmit() {
			notes += " submit"
		}
		fmt.Fprintf(t, "%.*s\t%s\t%s\t%s\t%s\t%s\n", shortID, tok.GetId(), tok.GetRole(), or(tok.GetHost(), "any"),
			moment(tok.GetCreated()), moment(tok.GetExpires()), or(notes, "-"))
	}
	return t.Flush()
}

func or(text, empty string) string {
	if text == "" {
		return empty
	}
	return text
}

// moment prints a time of the wire, in the zone of whoever looks.
func moment(seconds int64) string {
	if seconds == 0 {
		return "-"
	}
	return time.Unix(seconds, 0).Format(time.DateTime)
}

func tokenRevokeCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "revoke",
		Usage:     "make a token worthless",
		ArgsUsage: "TOKEN|ID",
		Description: "Hosts that have joined with it stay; see rampart cert revoke. The id, or its beginning,\n" +
			"is that of rampart token list.",
		Flags: []cli.Flag{serverFlag},
		Action: func(c *cli.Context) error {
			token, err := Operand(c, "token revoke", "token")
			if err != nil {
				return err
			}
			return RevokeToken(c.Context, env, c.String("server"), token)
		},
	}
}

// RevokeToken makes a token worthless, named by itself or by the beginning of its id.
func RevokeToken(ctx context.Context, env *Env, server, token string) error {
	client, err := env.Trust(server)
	if err != nil {
		return err
	}
	if _, err := client.RevokeToken(env.WithRequestID(ctx), connect.NewRequest(&api.RevokeTokenRequest{Token: token})); err != nil {
		return fmt.Errorf("token revoke: %w", err)
	}
	return nil
}
