package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/chaos/check"
	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/pause"
)

// A Booking is a reservation that is asked for, or what one that there is becomes. All are whole seconds.
type Booking struct {
	Ahead  int // of its start, from now on
	Length int
	Times  int    // how often it is to be
	Select string // what it wants
	Wait   int    // how long the client waits for the decision; 0: it does not
	Later  bool   // the alteration moves the start; else it changes the length
	Force  bool   // and looks at no others

	Of      string   // what it is made of; empty: of times
	Hosts   []string // of OfHosts
	Held    bool     // the job that is to come into it is held until the end
	Endless bool     // that job has no walltime
}

// sizes are what reservations want, of three hosts of 4 cpus: mostly what there is room for, at times all that there is, and
// what nobody has.
var sizes = []string{"1:ncpus=1", "1:ncpus=2", "2:ncpus=1", "1:ncpus=3", "2:ncpus=2", "1:ncpus=1", "3:ncpus=4", "1:ncpus=9"}

// Distant is how far ahead the reservations are that stay until the end of a run.
const Distant = 3600

func drawBooking(r *rand.Rand) Booking {
	b := Booking{Ahead: 1 + r.IntN(6), Length: 2 + r.IntN(4), Times: 1, Select: sizes[r.IntN(len(sizes))], Later: r.IntN(3) == 0}
	if r.IntN(3) > 0 {
		b.Wait = 5
	}
	switch r.IntN(6) {
	case 0, 1:
		b.Times = 2 + r.IntN(2)
	case 2:
		b.Ahead = Distant + 60*r.IntN(4)
	}
	b.Force, b.Held, b.Endless = r.IntN(4) == 0, r.IntN(6) == 0, r.IntN(6) == 0
	switch first := r.IntN(len(hosts)); r.IntN(10) {
	case 0:
		b.Of, b.Times, b.Hosts = check.OfHosts, 1, hosts[first:min(first+1+r.IntN(2), len(hosts))]
	case 1, 2:
		b.Of, b.Times = check.OfQueued, 1
	case 3:
		b.Of, b.Times = check.OfRunning, 1
	}
	return b
}

// hosts names the hosts of a world that reservations take whole.
var hosts = []string{"host1", "host2", "host3"}

// pauseBetween is how long after the end of an occurrence the next one starts.
const pauseBetween = 2

// rule returns the recurrence rule of one that begins at a time; empty: it is to be once.
func (b Booking) rule(start time.Time) string {
	if b.Times < 2 {
		return ""
	}
	var seconds []string
	for n := range b.Times {
		seconds = append(seconds, strconv.Itoa((start.Second()+n*(b.Length+pauseBetween))%60))
	}
	return fmt.Sprintf("FREQ=MINUTELY;BYSECOND=%s;COUNT=%d", strings.Join(seconds, ","), b.Times)
}

// booked is a reservation that clients know.
type booked struct {
	name, id string
	period   check.Period
}

// newest is how many of the newest reservations are asked about: older ones are over.
const newest = 4

// booking chooses a reservation: for a job one that begins soon, or has begun.
func (r *Record) booking(n int, forJob bool) (booked, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	soon := time.Now().Add(time.Minute).Unix()
	var among []booked
	for _, b := range slices.Backward(r.booked) {
		if len(among) < newest && (!forJob || b.period.Start < soon) {
			among = append(among, b)
		}
	}
	if len(among) == 0 {
		return booked{}, false
	}
	return among[n%len(among)], true
}

const (
	denied    = api.ReservationOutcome_RESERVATION_OUTCOME_DENIED
	confirmed = api.ReservationOutcome_RESERVATION_OUTCOME_CONFIRMED
)

// answers are what clients are told of a decision, in the words of the commands.
var answers = map[api.ReservationOutcome]string{
	api.ReservationOutcome_RESERVATION_OUTCOME_UNCONFIRMED: "UNCONFIRMED", confirmed: "CONFIRMED", denied: "DENIED",
	api.ReservationOutcome_RESERVATION_OUTCOME_WAIT_EXPIRED: "EXPIRED", api.ReservationOutcome_RESERVATION_OUTCOME_FAILED: "FAILED",
}

// removed are the answers that say that there is none.
var removed = []string{"DENIED", "EXPIRED", "FAILED"}

// about says of an operation which reservation it is about.
func (c *Client) about(op *check.Op, s Step, b booked) {
	switch queue, _, _ := strings.Cut(b.id, "."); op.Kind {
	case check.SubmitInside, check.MoveInside:
		op.Queue = queue
	case check.AlterReservation:
		op.Name, op.Job, op.Force = b.name, b.id, s.Book.Force
		if op.Attr, op.Value = "reserve_duration", strconv.Itoa(s.Book.Length); s.Book.Later {
			op.Attr, op.Value = "reserve_start", strconv.FormatInt(b.period.Start+1, 10)
		}
	default:
		op.Name, op.Job = b.name, b.id
	}
}

// reserving asks for a reservation. One that is made of a job has one of its own, which is asked for again and again until it runs if
// that has to be.
func (c *Client) reserving(ctx context.Context, op check.Op, s Step) {
	op.Attr, op.Value = s.Book.Of, strings.Join(s.Book.Hosts, "+")
	if s.Book.Of == check.OfQueued || s.Book.Of == check.OfRunning {
		job := c.own(ctx, op, s)
		if job.Result != check.Done {
			return
		}
		op.Value = job.Job
	}
	for n := range tries {
		asked := c.perform(ctx, op, s)
		if s.Book.Of != check.OfRunning || asked.Code != pbs.BadState {
			return
		}
		op.Name = fmt.Sprintf("%s.%d", s.Name, n+2)
		if !pause.For(ctx, tryEvery) {
			return
		}
	}
}

// A job runs within that.
const (
	tries    = 8
	tryEvery = 250 * time.Millisecond
)

// own submits a job that is to come into a reservation.
func (c *Client) own(ctx context.Context, op check.Op, s Step) check.Op {
	job := check.Op{Client: c.N, Kind: check.SubmitInside, Name: op.Name, Value: s.Value, Held: s.Book.Held && s.Book.Of != check.OfRunning}
	return c.perform(ctx, job, s)
}

// moveInside moves a job of its own into a reservation.
func (c *Client) moveInside(ctx context.Context, op check.Op, s Step) {
	s.Book.Of = check.OfQueued
	job := c.own(ctx, op, s)
	b, ok := c.Record.booking(s.Victim, true)
	if !ok || job.Result != check.Done {
		return
	}
	c.about(&op, s, b)
	op.Job, op.Value = job.Job, ""
	c.perform(ctx, op, s)
}

// boss returns who may change a reservation as an operation wants it: hosts are taken, and others not looked at, by managers alone.
func (c *Client) boss(op *check.Op) apiconnect.BatchClient {
	if op.Force || strings.HasPrefix(op.Job, "M") {
		return c.Manager
	}
	return c.Batch
}

func (c *Client) reserve(ctx context.Context, op *check.Op, s Step) error {
	if op.Attr == check.OfQueued || op.Attr == check.OfRunning {
		return c.booked(ctx, op, c.Batch, &api.ReserveRequest{Attributes: []*api.Attribute{
			{Name: "Reserve_Name", Value: op.Name}, {Name: op.Attr, Value: op.Value}, {Name: "Authorized_Users", Value: "*"},
		}})
	}
	start := time.Now().Add(time.Duration(s.Book.Ahead) * time.Second).UTC().Truncate(time.Second)
	op.Period = check.Period{Start: start.Unix(), End: start.Unix() + int64(s.Book.Length)}
	attributes := []*api.Attribute{
		{Name: "Reserve_Name", Value: op.Name},
		{Name: "reserve_start", Value: strconv.FormatInt(op.Period.Start, 10)},
		{Name: "reserve_duration", Value: strconv.Itoa(s.Book.Length)},
		{Name: "Resource_List", Resource: "select", Value: s.Book.Select},
		{Name: "Authorized_Users", Value: "*"},
	}
	if rule := s.Book.rule(start); rule != "" {
		attributes = append(attributes, &api.Attribute{Name: "reserve_rrule", Value: rule}, &api.Attribute{Name: "Variable_List", Value: "PBS_TZID=UTC"})
	}
	if op.Attr == check.OfHosts {
		attributes = slices.DeleteFunc(attributes, func(a *api.Attribute) bool { return a.GetName() == "Resource_List" })
		return c.booked(ctx, op, c.Manager, &api.ReserveRequest{Attributes: attributes, Hosts: s.Book.Hosts})
	}
	return c.booked(ctx, op, c.Batch, &api.ReserveRequest{Attributes: waiting(attributes, s.Book.Wait)})
}

// booked makes a request for a reservation, and notes the answer.
func (c *Client) booked(ctx context.Context, op *check.Op, batch apiconnect.BatchClient, r *api.ReserveRequest) error {
	reply, err := batch.Reserve(ctx, connect.NewRequest(r))
	if err != nil {
		return err
	}
	op.Job, op.Answer = reply.Msg.GetReservation(), answers[reply.Msg.GetOutcome()]
	return nil
}

func (c *Client) alterReservation(ctx context.Context, op *check.Op, s Step) error {
	reply, err := c.boss(op).AlterReservation(ctx, connect.NewRequest(&api.AlterReservationRequest{
		Reservation: op.Job, Changes: waiting([]*api.Attribute{{Name: op.Attr, Value: op.Value}}, s.Book.Wait), Force: op.Force,
	}))
	if err != nil {
		return err
	}
	op.Answer = answers[reply.Msg.GetOutcome()]
	return nil
}

func waiting(attributes []*api.Attribute, seconds int) []*api.Attribute {
	if seconds == 0 {
		return attributes
	}
	return append(slices.Clone(attributes), &api.Attribute{Name: "interactive", Value: strconv.Itoa(seconds)})
}
