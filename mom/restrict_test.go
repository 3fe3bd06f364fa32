package mom

import (
	"context"
	"maps"
	"reflect"
	"testing"
	"time"

	"rampart/transport"
	"rampart/transport/api"
)

func TestRestriction_Read(t *testing.T) {
	for line, want := range map[string]restriction{
		"$restrict_user on":                           {on: true, system: lastSystemUser},
		"$restrict_user False":                        {system: lastSystemUser},
		"$restrict_user_maxsysid 99":                  {system: 99},
		"$restrict_user_exceptions ann, bob ,charlie": {system: lastSystemUser, spared: []string{"ann", "bob", "charlie"}},
	} {
		s := settings{restrict: restriction{system: lastSystemUser}}
		if err := s.directive(line); err != nil || !reflect.DeepEqual(s.restrict, want) {
			t.Errorf("%q: %+v, %v; want %+v", line, s.restrict, err, want)
		}
	}
	for _, line := range []string{"$restrict_user", "$restrict_user perhaps", "$restrict_user_maxsysid -1", "$restrict_user_maxsysid root", "$restrict_user_exceptions", "$restrict_user_exceptions ,"} {
		if err := new(settings).directive(line); err == nil {
			t.Errorf("%q is taken", line)
		}
	}
}

// Whoever has a job on the host may have processes there until it is over, and who is spared always; a name without an account is nobody. While
// the host's directory does not answer nobody can be told apart.
func TestPeople(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.config.SwitchUser = true
		w.up()
		people := func(spared ...string) map[uint32]bool {
			t.Helper()
			may, err := w.mom.running().people(t.Context(), restriction{spared: spared})
			if err != nil {
				t.Fatal(err)
			}
			return may
		}
		if may := people("nobody-here"); len(may) > 0 {
			t.Errorf("without jobs there are %v", may)
		}
		ann := map[uint32]bool{1000: true}
		if may := people("ann"); !maps.Equal(may, ann) {
			t.Errorf("with ann spared there are %v", may)
		}
		w.deliver(w.run("1.srv", "sleep 10", &api.Attribute{Name: "euser", Value: "ann"}))
		if may := people(); !maps.Equal(may, ann) {
			t.Errorf("with a job of ann's there are %v", may)
		}
		sleep(time.Minute)
		w.deliver(w.forget("1.srv"))
		sleep(time.Second)
		if may := people(); len(may) > 0 {
			t.Errorf("after the job there are %v", may)
		}
		w.mom.running().site.Accounts = accounts{transport.Accounts(silent{})}
		if may, err := w.mom.running().people(t.Context(), restriction{spared: []string{"ann"}}); err == nil {
			t.Errorf("of a directory that does not answer there are %v", may)
		}
	})
}

// silent is a user database that does not answer.
type silent struct{ names }

func (silent) ByName(context.Context, string) (transport.Account, error) {
	return transport.Account{}, context.DeadlineExceeded
}
