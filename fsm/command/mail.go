package command

import "rampart/fsm/state"

// MailsDone takes mails out of the state that were sent, or that nobody could send. The
// leader that sends a mail and is no leader any more before this is committed leaves it to
// the next one: a mail is sent at least once.
type MailsDone struct {
	Seqs []uint64 `cbor:"1,keyasint"`
}

// Apply forgets the mails; those that are not there any more change nothing.
func (c *MailsDone) Apply(tx *state.Tx, _ Meta, _ *state.Result) error {
	for _, seq := range c.Seqs {
		tx.DeleteMail(seq)
	}
	return nil
}
