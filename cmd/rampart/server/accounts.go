package server

import (
	"time"

	"rampart/cluster/member"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/directory"
	"rampart/transport/meter"
)

// openAccounts makes the replica's directory of users, unless the outside brings one. What the
// state has on record of owners of jobs stands in for a directory that does not answer.
func (s *Server) openAccounts() {
	if s.outside.Accounts != nil {
		return
	}
	view := func() *state.View { return s.machine.View() }
	s.directory = directory.New(directory.Options{
		Recall: func(key string) (transport.Account, time.Time, bool) { return recall(view(), key) },
		Owns:   func(name string) bool { return view().OwnsJobs(name) },
		Forgotten: func(name string) time.Time {
			if a, ok := view().Account(name); ok && a.Forgotten != 0 {
				return time.Unix(0, int64(a.Forgotten))
			}
			return time.Time{}
		},
		Logger: s.logger,
	})
	s.outside.Accounts = s.directory
	meter.Silence(s.metrics.registry, "names", func() float64 { return transport.NamesSilent().Seconds() })
	meter.Silence(s.metrics.registry, "accounts", func() float64 { return s.directory.Silent().Seconds() })
}

// recall returns the account on record with a name or uid.
func recall(v *state.View, key string) (transport.Account, time.Time, bool) {
	a, ok := v.Recall(key)
	if !ok {
		return transport.Account{}, time.Time{}, false
	}
	told := time.Unix(0, int64(a.Told))
	return transport.Account{
		Name: a.Name, UID: a.UID, GID: a.GID, Home: a.Home, Shell: a.Shell,
		Group: a.Groups[0], Groups: a.Groups, GIDs: a.GIDs, Told: told,
	}, told, true
}

// silenceAlarms tell of services of the host that do not answer.
func (s *Server) silenceAlarms() (all []member.Alarm) {
	if s.directory == nil {
		return nil
	}
	if silent := s.directory.Silent(); silent.Err != nil {
		all = append(all, member.Alarm{
			Kind: member.AlarmDirectory, Serves: true,
			Text:   "the directory of users has not answered since " + silent.Since.UTC().Format(time.RFC3339) + ": " + silent.Err.Error(),
			Advice: "look at what getent asks on its host (LDAP, SSSD); who is known stays known for a day, owners of jobs for longer",
		})
	}
	if silent := transport.NamesSilent(); silent.Err != nil {
		all = append(all, member.Alarm{
			Kind: member.AlarmNames, Serves: true,
			Text:   "the resolver of host names has not answered since " + silent.Since.UTC().Format(time.RFC3339) + ": " + silent.Err.Error(),
			Advice: "look at /etc/resolv.conf of its host and at the name servers in it; addresses that are known stay known for a day",
		})
	}
	return all
}
