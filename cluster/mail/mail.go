package mail

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/state"
)

const (
	// window is how many mails, the oldest, are looked at; atOnce how many are sent at a time.
	window = 64
	atOnce = 4
	// sendFor bounds one attempt.
	sendFor = 30 * time.Second
	// attempts is how often a mail is tried; between two lies firstPause, doubled each time.
	attempts   = 5
	firstPause = 10 * time.Second
	// gather lets changes of the state come together before the mails are looked at.
	gather = 100 * time.Millisecond
)

// Proposer commits a proposal and returns its outcome.
type Proposer interface {
	Propose(ctx context.Context, p command.Proposal) (command.Outcome, error)
}

// Source is where the mails are.
type Source interface {
	View() *state.View
	// Changed returns a channel that is closed when a newer view is there.
	Changed() <-chan struct{}
}

// A Letter is a mail on its way.
type Letter struct {
	Mailer string // the site's program: the server attribute mailer
	From   string // the server attribute mail_from
	To     []string
	Text   []byte // header and body
}

// Options of a Post.
type Options struct {
	Source   Source
	Proposer Proposer
	// Send hands a letter to the mailer, until ctx ends.
	Send   func(ctx context.Context, l Letter) error
	Host   string // to which mail goes that is addressed to no other: PBS_MAIL_HOST_NAME of pbs.conf; empty: where jobs came from
	Logger *slog.Logger
}

// Post sends mails during one term of leadership.
type Post struct {
	opts    Options
	mails   map[uint64]*attempt // that are in hand, by their number
	running int
	results chan result
}

// An attempt is how far a mail has come.
type attempt struct {
	tries int
	next  time.Time
	busy  bool
	done  bool // sent, or given up; not committed yet
}

type result struct {
	mail *state.Mail
	err  error
}

// New returns the duty of one term.
func New(opts Options) *Post {
	return &Post{opts: opts, mails: map[uint64]*attempt{}, results: make(chan result, atOnce)}
}

// Run sends until ctx ends. A mail that nobody takes holds nothing up but itself.
func (p *Post) Run(ctx context.Context) error {
	defer func() {
		for ; p.running > 0; p.running-- {
			<-p.results
		}
	}()
	for {
		changed := p.opts.Source.Changed()
		wake := p.begin(ctx)
		p.commit(ctx)
		timer := time.NewTimer(wake)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case r := <-p.results:
			p.ended(r)
		case <-timer.C:
		case <-changed:
			timer.Stop()
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(gather):
			}
		}
		timer.Stop()
	}
}

// begin sends the mails whose turn it is, and returns when to look again.
func (p *Post) begin(ctx context.Context) time.Duration {
	v := p.opts.Source.View()
	wake, seen := time.Hour, map[uint64]bool{}
	for m := range v.Mails() {
		if len(seen) == window {
			break
		}
		seen[m.Seq] = true
		a := p.mails[m.Seq]
		if a == nil {
			a = new(attempt)
			p.mails[m.Seq] = a
		}
		switch left := time.Until(a.next); {
		case a.busy || a.done:
		case left > 0:
			wake = min(wake, left)
		case p.running < atOnce:
			a.busy = true
			p.running++
			go func() {
				ctx, cancel := context.WithTimeout(ctx, sendFor)
				defer cancel()
				p.results <- result{m, p.opts.Send(ctx, letter(v, m, p.opts.Host))}
			}()
		}
	}
	for seq, a := range p.mails {
		if !seen[seq] && !a.busy {
			delete(p.mails, seq)
		}
	}
	return wake
}

// ended notes how an attempt went.
func (p *Post) ended(r result) {
	p.running--
	a := p.mails[r.mail.Seq]
	a.busy = false
	a.tries++
	log := p.opts.Logger.With("job", r.mail.Job, "to", r.mail.To, "attempt", a.tries)
	switch {
	case r.err == nil:
		a.done = true
	case a.tries == attempts:
		a.done = true
		log.Error("mail given up", "error", r.err)
	default:
		pause := firstPause << (a.tries - 1)
		a.next = time.Now().Add(pause)
		log.Warn("mail not sent", "error", r.err, "again_in", pause)
	}
}

// commit takes the mails that are done out of the state. Those that were not committed are
// proposed again, with the next that are.
func (p *Post) commit(ctx context.Context) {
	var seqs []uint64
	for m := range p.opts.Source.View().Mails() {
		a := p.mails[m.Seq]
		if a == nil {
			break
		}
		if a.done {
			seqs = append(seqs, m.Seq)
		}
	}
	if len(seqs) == 0 {
		return
	}
	if _, err := p.opts.Proposer.Propose(ctx, command.Proposal{Commands: []command.Command{&command.MailsDone{Seqs: seqs}}}); err != nil && ctx.Err() == nil {
		p.opts.Logger.Warn("mails are not off the list", "error", err)
	}
}

// addressed returns to whom a mail goes. A host that receives the mail of all takes the place of the owner's host where nobody
// is named, and stands behind names without a host.
func addressed(m *state.Mail, host string) []string {
	if host == "" {
		return m.To
	}
	to := slices.Clone(m.To)
	for i, user := range to {
		name, _, hosted := strings.Cut(user, "@")
		if m.Owned || !hosted {
			to[i] = name + "@" + host
		}
	}
	return to
}

// letter writes a mail as PBS does.
func letter(v *state.View, m *state.Mail, host string) Letter {
	to := addressed(m, host)
	var b strings.Builder
	fmt.Fprintf(&b, "To: %s\n", strings.Join(to, ", "))
	if m.Reservation != "" {
		fmt.Fprintf(&b, "Subject: PBS RESERVATION %s\n\n", m.Reservation)
		fmt.Fprintf(&b, "PBS Reservation Id: %s\nReservation Name:   %s\n%s\n", m.Reservation, m.Name, m.Text)
	} else {
		fmt.Fprintf(&b, "Subject: PBS JOB %s\n\n", m.Job)
		fmt.Fprintf(&b, "PBS Job Id: %s\nJob Name:   %s\n%s\n", m.Job, m.Name, m.Text)
	}
	return Letter{Mailer: v.Server().Get("mailer"), From: v.Server().Get("mail_from"), To: to, Text: []byte(b.String())}
}
