package main

import (
	"context"

	"rampart/transport/api"
)

// chosenJobs is how many of all the jobs a listing is about.
const chosenJobs = 10

// otherUser owns them: an account that every machine has.
const otherUser = "daemon"

// chosen measures listings of a few among many: they should cost the few.
func (b *bench) chosen(ctx context.Context, l *loaded, at *world, address string) error {
	c := direct(l.world.id, address, otherUser)
	defer c.http.CloseIdleConnections()
	before, _, err := c.list(ctx, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Attributes: []string{"job_state"},
		Where: []*api.Criterion{{Name: "Job_Owner", Value: otherUser}},
	})
	if err != nil {
		return err
	}
	for range chosenJobs - before {
		m := job("true\n")
		m.Attributes = append(m.Attributes, &api.Attribute{Name: "Hold_Types", Value: "u"})
		if _, err := c.submit(ctx, m); err != nil {
			return err
		}
	}
	among := " among " + thousands(l.jobs) + " queued jobs, from a follower"
	for _, q := range []struct {
		what  string
		least int
		args  []string
	}{
		{"qstat ID", 3, []string{"qstat", "1.srv"}},
		{"qstat -u of one user's 10 jobs", chosenJobs + 5, []string{"qstat", "-u", otherUser}},
		{"qselect -u of one user's 10 jobs", chosenJobs, []string{"qselect", "-u", otherUser}},
		{"qselect -s Q", l.jobs - chosenJobs, []string{"qselect", "-s", "Q"}},
		{"qmgr list queue", 5, []string{"qmgr", "-c", "list queue workq"}},
	} {
		took, err := b.listing(ctx, at, q.least, q.args[0], q.args[1:]...)
		if err != nil {
			return err
		}
		b.note(row{q.what + among, sec(took), "", "", ""})
	}
	return nil
}
