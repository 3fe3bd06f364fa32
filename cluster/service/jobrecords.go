package service

import (
	"context"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/acct"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

const (
	// lookBack is how many days are read for a job that is no longer known, if nobody says.
	lookBack = 7
	// writtenWithin bounds the wait for records that are decided and not in the files yet.
	writtenWithin = 2 * time.Second
	// linesPerMessage and bytesPerMessage bound one message of records.
	linesPerMessage = 512
	bytesPerMessage = 1 << 20
)

// JobRecords tells managers, and the owner while the job is known, what accounting has of a
// job. It is read from the files of this replica, without a leader too.
func (c *Cluster) JobRecords(ctx context.Context, r *connect.Request[api.JobRecordsRequest], stream *connect.ServerStream[api.JobRecordsReply]) error {
	return c.jobRecords(ctx, r.Msg, stream.Send)
}

func (c *Cluster) jobRecords(ctx context.Context, r *api.JobRecordsRequest, send func(*api.JobRecordsReply) error) error {
	v, err := c.lately(ctx)
	if err != nil {
		return err
	}
	id, days, err := c.recordsWanted(ctx, v, r)
	if err != nil {
		return c.told(ctx, err)
	}
	now := max(v.Now().Unix(), time.Now().Unix()) // as lists have it: what runs goes on while nothing is written
	msg := &api.JobRecordsReply{Job: string(id), Zone: v.Server().Get("timezone"), Now: now}
	soon, cancel := context.WithTimeout(ctx, writtenWithin)
	defer cancel()
	if err := c.Ledger.WaitSynced(soon, v.Cluster().LastRecord); err != nil {
		msg.Lacking = true
	}
	lines, err := c.Ledger.OfJob(ctx, string(id), days.first, days.last, days.newest)
	if err != nil {
		return err
	}
	if err := send(msg); err != nil {
		return err
	}
	return inMessages(lines, func(some [][]byte) error { return send(&api.JobRecordsReply{Lines: some}) })
}

// recordDays are day files, YYYYMMDD; with newest the last one is read first, and those before
// the day on which the job was queued are not.
type recordDays struct {
	first, last string
	newest      bool
}

// recordsWanted says which records somebody may read, and in which days they are: those
// of the job's life, with one more on each side for a change of the time zone.
func (c *Cluster) recordsWanted(ctx context.Context, v *state.View, r *api.JobRecordsRequest) (pbs.JobID, recordDays, error) {
	p, err := c.person(ctx, v)
	if err != nil {
		return "", recordDays{}, err
	}
	day := func(t pbs.Time, more int) string {
		return time.Unix(t.Unix(), 0).In(acct.Zone(v.Server().Get("timezone"))).AddDate(0, 0, more).Format("20060102")
	}
	if j, err := jobOf(v, r.GetJob()); err == nil {
		if p.perm < attr.Manager && !p.owns(j) {
			return "", recordDays{}, denyJob(p, j, typeStatus)
		}
		last := v.Now()
		if j.State == pbs.Finished {
			last = max(j.Ended, j.Changed)
		}
		return j.ID, recordDays{first: day(j.Created, -1), last: day(last, 1)}, nil
	}
	id, err := jobID(v, r.GetJob())
	if err != nil {
		return "", recordDays{}, err
	}
	if p.perm < attr.Manager || id.Seq() >= v.Cluster().NextJob && !v.Cluster().NumbersAgain {
		return "", recordDays{}, pbs.Refuse(pbs.UnknownJob)
	}
	back := int(min(r.GetDays(), 36500))
	if back == 0 {
		back = lookBack
	}
	return id, recordDays{first: day(v.Now(), 1-back), last: day(v.Now(), 1), newest: true}, nil
}

// inMessages sends lines in messages of a moderate size; a line is never cut.
func inMessages(lines [][]byte, send func([][]byte) error) error {
	for len(lines) > 0 {
		n, size := 0, 0
		for n < len(lines) && n < linesPerMessage && (n == 0 || size+len(lines[n]) <= bytesPerMessage) {
			size += len(lines[n])
			n++
		}
		if err := send(lines[:n]); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}
