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
	"rampart/transport/api"
)

// A Booking is a reservation that is asked for, or what one that there is becomes. All are whole seconds.
type Booking struct {
	Ahead  int // of its start, from now on
	Length int
	Times  int    // how often it is to be
	Select string // what it wants
	Wait   int    // how long the client waits for the decision; 0: it does not
	Later  bool   // the alteration moves the start; else it changes the length
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
	return b
}

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
}

// about says of an operation which reservation it is about.
func (c *Client) about(op *check.Op, s Step, b booked) {
	switch queue, _, _ := strings.Cut(b.id, "."); op.Kind {
	case check.SubmitInside:
		op.Queue = queue
	case check.AlterReservation:
		op.Name, op.Job = b.name, b.id
		if op.Attr, op.Value = "reserve_duration", strconv.Itoa(s.Book.Length); s.Book.Later {
			op.Attr, op.Value = "reserve_start", strconv.FormatInt(b.period.Start+1, 10)
		}
	default:
		op.Name, op.Job = b.name, b.id
	}
}

func (c *Client) reserve(ctx context.Context, op *check.Op, s Step) error {
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
	reply, err := c.Batch.Reserve(ctx, connect.NewRequest(&api.ReserveRequest{Attributes: waiting(attributes, s.Book.Wait)}))
	if err != nil {
		return err
	}
	op.Job, op.Answer = reply.Msg.GetReservation(), answers[reply.Msg.GetOutcome()]
	return nil
}

func (c *Client) alterReservation(ctx context.Context, op *check.Op, s Step) error {
	reply, err := c.Batch.AlterReservation(ctx, connect.NewRequest(&api.AlterReservationRequest{
		Reservation: op.Job, Changes: waiting([]*api.Attribute{{Name: op.Attr, Value: op.Value}}, s.Book.Wait),
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
