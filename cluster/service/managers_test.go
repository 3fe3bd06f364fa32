package service

import (
	"context"
	"net"
	"testing"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// Who is named as a manager or an operator comes from a host that the name service knows, or that is of the cluster. What it does not
// answer, and what is taken out again, is not refused.
func TestManage_ManagersOfUnknownHosts(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	b.Batch.Resolve = func(_ context.Context, host string) ([]string, error) {
		switch host {
		case "login.example.org":
			return []string{"10.0.0.9"}, nil
		case "slow":
			return nil, &net.DNSError{Err: "no answer", Name: host, IsTimeout: true}
		}
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	const bad = "Access from host not allowed, or unknown host "
	for _, c := range []struct {
		name, value, want string
		op                api.Op
	}{
		{"managers", "ann@login.example.org", "", api.Op_OP_INCREASE},
		{"managers", "ann@nosuch", bad + "managers", api.Op_OP_INCREASE},
		{"managers", "ann@*,boss@*,bob@nosuch.example.org", bad + "managers", api.Op_OP_SET},
		{"operators", "ann@nosuch", bad + "operators", api.Op_OP_INCREASE},
		{"operators", "ann@hosta,bob@s1host,eve@*.nosuch,op@slow", "", api.Op_OP_INCREASE},
		{"managers", "ann@nosuch", "", api.Op_OP_DECREASE},
		{"acl_hosts", "nosuch", "", api.Op_OP_SET},
	} {
		a := set(c.name, c.value)
		a.Op = c.op
		_, err := b.Batch.Manage(b.as("boss@h"), request(&api.ManageRequest{
			Kind: api.ObjectKind_OBJECT_KIND_SERVER, Verb: api.Verb_VERB_SET, Changes: []*api.Attribute{a},
		}, ""))
		if said := ""; err != nil {
			if said = err.Error(); said != c.want || pbs.CodeOf(err) != pbs.UnknownHost {
				t.Errorf("%s %s: %s, want %q", c.name, c.value, said, c.want)
			}
		} else if c.want != "" {
			t.Errorf("%s %s was taken", c.name, c.value)
		}
	}
}
