package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"connectrpc.com/connect"

	"rampart/chaos/check"
	"rampart/cluster/store"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/client"
)

// disaster records what is lost for good: replicas with their disks, and what only they had.
type disaster struct {
	w       *World
	wrecked *state.View // the furthest that a wrecked replica has come to
	loss    *check.Loss // what no survivor had; nil: nothing
}

// wreck kills a replica, and takes log and ledger from its disk.
func (d *disaster) wreck(r *replica) {
	r.kill()
	if v := r.machine.View(); d.wrecked == nil || v.Index() > d.wrecked.Index() {
		d.wrecked = v
	}
	if r.disk.memory != nil {
		r.disk.memory = store.NewMemory()
	}
	err := errors.Join(os.RemoveAll(r.config.Home.Raft()), os.RemoveAll(r.config.Home.Accounting()))
	if err != nil {
		d.w.book.failed(r.name, err)
	}
}

const (
	// recoverLimit is how long the survivors may hear a leader that is gone, and take to
	// find out that one of them went on.
	recoverLimit = 30 * time.Second
	recoverAgain = 100 * time.Millisecond
)

// recover names all that are down as lost, and returns when the survivors have started
// again. It tells how many entries the lost ones had applied that none of the survivors has.
func (d *disaster) recover(ctx context.Context) (text string, ok bool) {
	var survivors []*replica
	var lost []string
	for _, r := range d.w.servers {
		if r.done != nil {
			survivors = append(survivors, r)
		} else {
			lost = append(lost, r.name)
		}
	}
	if len(survivors) == 0 || len(lost) <= len(survivors) {
		return "recover", false
	}
	plan, err := d.askToRecover(ctx, survivors[0], lost)
	if err == nil {
		err = d.awaitAgain(survivors)
	}
	if err != nil {
		d.w.book.failed("the recovery", err)
		return "recover", false
	}
	missing := d.lose(plan.GetSurvivors()[0].GetIndex(), lost)
	return fmt.Sprintf("recover from the loss of %v with the log of %s, %d applied entries are missing",
		lost, plan.GetSurvivors()[0].GetServerId(), missing), true
}

// lose notes what the wrecked had applied above the last entry of the log that goes on, and
// returns how many entries that were.
func (d *disaster) lose(above uint64, lost []string) (entries uint64) {
	v := d.wrecked
	d.wrecked = nil
	if v == nil || v.Index() <= above {
		return 0
	}
	for _, name := range lost {
		d.w.watcher.Forget(name, above)
	}
	if d.loss == nil {
		d.loss = &check.Loss{Jobs: make(map[string]string)}
	}
	d.loss.Entries += v.Index() - above
	for j := range v.Jobs() {
		if j.Modified > above {
			d.loss.Touch(string(j.ID), j.Name)
		}
	}
	for q := range v.Queues() {
		d.loss.Queues = d.loss.Queues || q.Modified > above
	}
	return v.Index() - above
}

func (d *disaster) askToRecover(ctx context.Context, at *replica, lost []string) (*api.RecoverReply, error) {
	id, err := d.w.ca.Issue(transport.RoleReplica, admin, time.Now())
	if err != nil {
		return nil, err
	}
	asker := client.New(client.Options{
		Replicas: []string{at.config.Listen}, Network: d.w.net.Host(admin), Identity: id, User: "root", Budget: 5 * time.Second,
	})
	defer asker.Close()
	for end := time.Now().Add(recoverLimit); ; {
		reply, err := asker.Recovery().Recover(ctx, connect.NewRequest(&api.RecoverRequest{Lost: lost}))
		if err == nil {
			return reply.Msg, nil
		}
		if time.Now().After(end) {
			return nil, err
		}
		<-time.After(recoverAgain)
	}
}

// awaitAgain starts the survivors again, as their processes do.
func (d *disaster) awaitAgain(survivors []*replica) error {
	end := time.After(recoverLimit)
	for _, r := range survivors {
		select {
		case <-r.done:
		case <-end:
			return fmt.Errorf("%s has not begun again", r.name)
		}
		if !r.again.Swap(false) {
			return fmt.Errorf("%s ended", r.name)
		}
		r.host.Crash()
		r.start(d.w.life)
	}
	return nil
}
