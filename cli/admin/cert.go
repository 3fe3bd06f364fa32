package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/transport"
	"rampart/transport/api"
)

func certCommand(env *Env) *cli.Command {
	list := &cli.Command{
		Name:  "list",
		Usage: "tell whose certificates are on record, and when each was renewed",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print the form that stays stable"}, serverFlag},
		Action: func(c *cli.Context) error {
			return ListCertificates(c.Context, env, c.String("server"), c.Bool("json"))
		},
	}
	revoke := &cli.Command{
		Name:      "revoke",
		Usage:     "cut a host off at once, on open connections too",
		ArgsUsage: "HOST",
		Description: "The host needs a new token to come back: rampart token create --role ROLE --host HOST.\n" +
			"The gossip key, which it knows, is replaced. A replica is refused when a quorum would not be\n" +
			"left without it; what else to do for one is printed.",
		Flags: []cli.Flag{&cli.StringFlag{Name: "role", Usage: "replica, mom or submit, for a host that has several"}, serverFlag},
		Action: func(c *cli.Context) error {
			host, err := Operand(c, "cert revoke", "host")
			if err != nil {
				return err
			}
			return RevokeCertificate(c.Context, env, c.String("server"), host, c.String("role"))
		},
	}
	return &cli.Command{Name: "cert", Usage: "look at and revoke certificates", Subcommands: []*cli.Command{list, revoke}}
}

// ListCertificates prints whose certificates are on record.
func ListCertificates(ctx context.Context, env *Env, server string, asJSON bool) error {
	client, err := env.Trust(server)
	if err != nil {
		return err
	}
	reply, err := client.ListCertificates(ctx, connect.NewRequest(&api.ListCertificatesRequest{}))
	if err != nil {
		return fmt.Errorf("cert list: %w", err)
	}
	if asJSON {
		return certJSON(env.Stdout, reply.Msg.GetCertificates())
	}
	return certTable(env.Stdout, reply.Msg.GetCertificates(), time.Now())
}

func certTable(w io.Writer, all []*api.CertificateInfo, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "HOST\tROLE\tKEY\tSINCE\tRENEWED\tEXPIRES\tSTATE")
	for _, c := range all {
		fmt.Fprintf(t, "%s\t%s\t%.*s\t%s\t%s\t%s\t%s\n", c.GetHost(), c.GetRole(), shortID, c.GetKey(),
			moment(c.GetEnrolled()), moment(c.GetRenewed()), moment(c.GetExpires()), certState(c, now))
	}
	return t.Flush()
}

func certState(c *api.CertificateInfo, now time.Time) string {
	switch {
	case c.GetRevoked() != 0:
		return "revoked " + moment(c.GetRevoked())
	case c.GetExpires() != 0 && c.GetExpires() < now.Unix():
		return "expired"
	default:
		return "good"
	}
}

type certificateJSON struct {
	Host     string     `json:"host"`
	Role     string     `json:"role"`
	Key      string     `json:"key"`
	Enrolled *time.Time `json:"enrolled"`
	Renewed  *time.Time `json:"renewed,omitempty"`
	Expires  *time.Time `json:"expires,omitempty"`
	Revoked  *time.Time `json:"revoked,omitempty"`
	Submit   bool       `json:"submit,omitempty"`
}

func certJSON(w io.Writer, all []*api.CertificateInfo) error {
	out := struct {
		Certificates []certificateJSON `json:"certificates"`
	}{Certificates: []certificateJSON{}}
	at := func(seconds int64) *time.Time {
		if seconds == 0 {
			return nil
		}
		t := time.Unix(seconds, 0).UTC()
		return &t
	}
	for _, c := range all {
		out.Certificates = append(out.Certificates, certificateJSON{
			Host: c.GetHost(), Role: c.GetRole(), Key: c.GetKey(), Enrolled: at(c.GetEnrolled()), Renewed: at(c.GetRenewed()),
			Expires: at(c.GetExpires()), Revoked: at(c.GetRevoked()), Submit: c.GetSubmit(),
		})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// RevokeCertificate cuts a host off, and says what is left to do.
func RevokeCertificate(ctx context.Context, env *Env, server, host, role string) error {
	client, err := env.Trust(server)
	if err != nil {
		return err
	}
	reply, err := client.RevokeCertificate(env.WithRequestID(ctx), connect.NewRequest(&api.RevokeCertificateRequest{Host: host, Role: role}))
	if err != nil {
		return fmt.Errorf("cert revoke: %w", err)
	}
	_, err = io.WriteString(env.Stdout, revokedText(host, reply.Msg))
	return err
}

func revokedText(host string, r *api.RevokeCertificateReply) string {
	lines := []string{fmt.Sprintf("%s is cut off as %s", host, r.GetRole())}
	switch {
	case r.GetGossipTurning():
		lines = append(lines, "the gossip key is being replaced: rampart cluster rotate-gossip-key --look")
	case r.GetGossipPending():
		lines = append(lines, "a gossip key that it may know was being replaced already, and is replaced once more after that: rampart cluster rotate-gossip-key --look")
	}
	switch transport.Role(r.GetRole()) {
	case transport.RoleReplica:
		lines = append(lines,
			"it still counts as a member when the quorum is counted: rampart cluster remove "+host,
			"it has the key of the CA: if that may have been taken, only a new CA shuts its holder out: rampart ca rotate")
	case transport.RoleMom:
		lines = append(lines, "its jobs end by themselves, and are queued again, when node_fail_requeue has passed; rampart host forget "+host+" does not wait")
	}
	return strings.Join(lines, "\n") + "\n"
}
