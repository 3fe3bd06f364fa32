package transport

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"rampart/transport/api"
)

// procedures walks all methods of all services of the generated code.
func procedures() map[string]bool {
	all := map[string]bool{}
	for _, f := range []protoreflect.FileDescriptor{
		api.File_batch_proto, api.File_blobs_proto, api.File_cluster_proto, api.File_agent_proto, api.File_report_proto, api.File_trust_proto, api.File_halt_proto, api.File_members_proto,
		api.File_snapshots_proto, api.File_recovery_proto, api.File_files_proto, api.File_sister_proto,
	} {
		for i := range f.Services().Len() {
			s := f.Services().Get(i)
			if s.Name() == "TaskManager" {
				continue // programs of a job ask it over a socket of its own
			}
			for j := range s.Methods().Len() {
				all["/"+string(s.FullName())+"/"+string(s.Methods().Get(j).Name())] = true
			}
		}
	}
	return all
}

func TestMethods_EachHasItsRule(t *testing.T) {
	all := procedures()
	if len(all) < 25 {
		t.Fatalf("only %d methods were found", len(all))
	}
	for p := range all {
		if r, ok := RuleOf(p); !ok || r.For == ForNobody {
			t.Errorf("%s is not in the table: nobody may call it", p)
		}
	}
	for p := range methods {
		if !all[p] {
			t.Errorf("%s is in the table, and in no service", p)
		}
	}
}

func TestAudience(t *testing.T) {
	person := Caller{User: userJoe, Role: RoleMom, Host: "hosta", Vouched: true}
	callers := map[string]Caller{
		"stranger": {}, "replica": {Role: RoleReplica, Host: "s1"}, "mom": {Role: RoleMom, Host: "hosta"},
		"submit": {Role: RoleSubmit, Host: "login"}, "expired mom": {Role: RoleMom, Host: "hosta", Expired: true},
		"person": person, "person by replica": {User: userJoe, Role: RoleReplica, Vouched: true},
		"token": {User: userJoe, Token: true}, "expired person": {User: userJoe, Role: RoleMom, Vouched: true, Expired: true},
	}
	for audience, want := range map[Audience][]string{
		ForNobody:   {},
		ForKnownKey: {"replica", "mom", "submit", "expired mom"},
		ForReplicas: {"replica"},
		ForDaemons:  {"replica", "mom", "submit"},
		ForMoms:     {"mom"},
		ForKnown:    {"replica", "mom", "submit", "person", "person by replica", "token"},
		ForPeople:   {"person", "person by replica", "token"},
		ForVouched:  {"person", "person by replica"},
	} {
		admitted := map[string]bool{}
		for _, name := range want {
			admitted[name] = true
		}
		for name, c := range callers {
			if audience.admits(c) != admitted[name] {
				t.Errorf("audience %d admits %s: %t", audience, name, !admitted[name])
			}
			if !ForAnybody.admits(c) {
				t.Errorf("%s is somebody", name)
			}
		}
	}
}
