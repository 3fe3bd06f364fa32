package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// MessageJob writes a line into the output of a running job: qmsg.
type MessageJob struct {
	Job    pbs.JobID `cbor:"1,keyasint"`
	Text   string    `cbor:"2,keyasint"`
	Output bool      `cbor:"3,keyasint,omitempty"` // into standard output
	Error  bool      `cbor:"4,keyasint,omitempty"` // into standard error
}

// Apply orders the mother superior to write it.
func (c *MessageJob) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	j, err := runningOrEach(tx, c.Job, func(id pbs.JobID) error {
		one := *c
		one.Job = id
		return one.Apply(tx, m, res)
	})
	if pbs.CodeOf(err) == pbs.BadState && c.Job.Sub() > 0 {
		return pbs.Errorf(pbs.NotSupported, "not supported for Array Jobs")
	}
	if err != nil || j == nil {
		return err
	}
	o := tx.Order(state.Order{
		Host: j.Run.MS, Kind: state.OrderMessage, Job: j.ID, RunCount: j.RunCount, Text: c.Text, Output: c.Output, Error: c.Error,
	})
	res.Order, res.Host = o.ID, o.Host
	return nil
}
