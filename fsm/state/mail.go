package state

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
)

// MaxMails bounds the mails that wait to be sent: while none can be, the oldest make room.
const MaxMails = 10_000

// The letters of Mail_Points, and the one that belongs to what is told unasked.
const (
	mailAborted  = "a"
	mailBegun    = "b"
	mailEnded    = "e"
	mailUnasked  = ""
	mailNothing  = "n"
	mailSubjobs  = "j"
	defaultMails = "a"
)

// A Mail tells people of a job's event. It stays in the state until a leader has sent it,
// or has given it up.
type Mail struct {
	Seq  uint64    `cbor:"1,keyasint"`
	At   pbs.Time  `cbor:"2,keyasint"`
	Job  pbs.JobID `cbor:"3,keyasint"`
	Name string    `cbor:"4,keyasint"` // of the job or the reservation
	To   []string  `cbor:"5,keyasint"`
	Text string    `cbor:"6,keyasint,omitempty"` // what happened, as PBS says it, in lines

	Reservation pbs.ReservationID `cbor:"7,keyasint,omitempty"` // of which it tells in place of a job
	Owned       bool              `cbor:"8,keyasint,omitempty"` // To is the owner where he submitted, for nobody was named
}

// Mails returns the mails that wait to be sent, the oldest first.
func (t *tables) Mails() iter.Seq[*Mail] { return t.mails.all() }

// DeleteMail forgets a mail that was sent, or given up.
func (tx *Tx) DeleteMail(seq uint64) {
	_, delta := tx.mails.remove(&Mail{Seq: seq})
	tx.digest += delta
}

func (tx *Tx) putMail(m *Mail) {
	m.Seq, m.At = tx.NextSeq(), tx.Now()
	_, delta := tx.mails.put(m)
	tx.digest += delta
	if oldest, ok := tx.mails.first(); ok && tx.mails.count() > MaxMails {
		tx.DeleteMail(oldest.Seq)
	}
}

// mail writes the mail of an event, if somebody wants it.
func (tx *Tx) mail(e Event) {
	if e.Reservation != nil {
		tx.mailReservation(e)
	}
	j := e.Job
	if j == nil {
		return
	}
	status, exited := j.Exit()
	if over := pbs.Exceeded(status); e.Kind == JobEnded && over != "" && exited {
		tx.mailTo(j, mailAborted, "Aborted by PBS Server\nJob exceeded resource "+over)
	}
	point, text := mailOf(e)
	tx.mailTo(j, point, text)
}

// mailTo writes a mail about a job, if there is anything to say and somebody wants it.
func (tx *Tx) mailTo(j *Job, point, text string) {
	if text == "" || !j.wantsMail(point) {
		return
	}
	list, _ := j.Attrs.Get("Mail_Users", "")
	if to, owned := mailUsers(list, j.Owner); len(to) > 0 {
		tx.putMail(&Mail{Job: j.ID, Name: j.Name, To: to, Text: text, Owned: owned})
	}
}

// MailFiles tells of files of a job that did not come, or could not be delivered, unless nobody
// wants mail: as in PBS nobody has to ask for it.
func (tx *Tx) MailFiles(j *Job, text string) { tx.mailTo(j, mailUnasked, text) }

// The letters of Mail_Points that a reservation has beside those of jobs.
const mailConfirmed = "c"

// mailReservation writes the mail of an event of a reservation, if somebody wants it (specification: advance-reservations section 3).
func (tx *Tx) mailReservation(e Event) {
	r := e.Reservation
	var point, text string
	switch e.Kind {
	case ReservationBegan:
		point, text = mailBegun, "Reservation period starting"
	case ReservationOver:
		point, text = mailEnded, "Reservation terminated"
	case ReservationConfirmed:
		point, text = mailConfirmed, "Reservation confirmed"
	case ReservationDenied:
		point, text = mailAborted, "Aborted by PBS Server\nReservation denied"
	case ReservationRemoved:
		if e.By.Name == "root" && e.By.Host == pbs.HostName(tx.cluster.Name) { // its time is over
			return
		}
		point, text = mailAborted, "Reservation deleted at request of "+e.By.String()
	default:
		return
	}
	points, ok := r.Attrs.Get("Mail_Points", "")
	if !ok {
		points = defaultMails
	}
	if strings.Contains(points, mailNothing) || !strings.Contains(points, point) {
		return
	}
	list, _ := r.Attrs.Get("Mail_Users", "")
	if to, owned := mailUsers(list, r.Owner); len(to) > 0 {
		tx.putMail(&Mail{Reservation: r.ID, Name: r.Name(), To: to, Text: text, Owned: owned})
	}
}

// mailOf returns the letter by which an event is asked for, and what the mail says; nothing
// for events of which nobody is told.
func mailOf(e Event) (point, text string) {
	switch e.Kind {
	case JobStarted:
		return mailBegun, "Begun execution"
	case JobEnded:
		return mailEnded, "Execution terminated\n" + e.Job.ExitText("\n")
	case JobAborted:
		text := "Aborted by PBS Server"
		if e.Text != "" {
			text += "\n" + e.Text
		}
		return mailAborted, text
	case JobDeleteAsked:
		if e.By.Name == e.Job.Owner.Name || e.Quiet {
			return "", ""
		}
		return mailUnasked, "Job to be deleted at request of " + e.By.String()
	}
	return "", ""
}

// ExitText tells of a job's end as PBS does: the exit status and what was used, with a separator between.
func (j *Job) ExitText(separator string) string {
	var b strings.Builder
	status, _ := j.Exit()
	b.WriteString("Exit_status=" + strconv.Itoa(int(status)))
	for _, u := range j.LastRun().Used {
		b.WriteString(separator + "resources_used." + u.Name + "=" + u.Value)
	}
	return b.String()
}

// wantsMail reports whether a job's Mail_Points ask for what has the letter. Of subjobs only
// those of arrays that say so are told of: the others by their array.
func (j *Job) wantsMail(point string) bool {
	points, ok := j.Attrs.Get("Mail_Points", "")
	if !ok {
		points = defaultMails
	}
	switch {
	case strings.Contains(points, mailNothing):
		return false
	case j.IsSubjob() != strings.Contains(points, mailSubjobs) && (j.IsSubjob() || j.Array != nil):
		return false
	}
	return strings.Contains(points, point)
}

// mailUsers returns the addresses to mail to: those of Mail_Users, else the owner at the host of the submission, and whether it is the owner. A
// name that the mail program could take for an option is left out.
func mailUsers(list string, owner pbs.User) (to []string, owned bool) {
	if owned = list == ""; owned {
		list = owner.String()
	}
	for user := range strings.SplitSeq(list, ",") {
		user = strings.TrimSpace(user)
		if user != "" && user[0] != '-' && !strings.ContainsAny(user, "\r\n") {
			to = append(to, user)
		}
	}
	return slices.Clip(to), owned
}
