// Package mail sends the mails that events of jobs have put into the state (specification:
// cli-contract section 2, qsub -m), a duty of the leader. It owns when a mail is tried,
// how often, and what it looks like; which mails there are is decided by the state, and how
// one is handed on by whoever runs the duty. A mail is sent at least once: one whose
// sending was not committed before the leader died is sent again by the next.
package mail
