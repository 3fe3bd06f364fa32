package mom

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"

	"connectrpc.com/connect"

	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// servers is the cluster as a mom sees it: it takes reports, or is away.
type servers struct {
	apiconnect.UnimplementedReportHandler
	mu       sync.Mutex
	away     bool
	epoch    uint64
	wish     api.LoadWish // when they want to hear of load
	loaded   *api.Load    // the last load they heard
	again    bool         // ask for registration with the next lease
	scripts  map[string]string
	acked    map[string]uint64
	facts    []*api.Fact
	samples  []*api.SamplesRequest
	regs     []*api.RegisterRequest
	leases   int
	fence    int64 // seconds
	term     uint64
	lowest   uint64
	held     *api.LeaseRequest // the last one
	prove    int64             // what a lease asks the mom to prove
	onLease  func(*api.LeaseRequest)
	onAnew   func(*api.RegisterRequest) // a registration for the epoch, from another one
	refusals map[string]bool            // jobs whose script is refused
	owner    *api.RunOwner              // of all runs
}

var _ apiconnect.ReportHandler = (*servers)(nil)

func (s *servers) here() error {
	if s.away {
		return connect.NewError(connect.CodeUnavailable, errors.New("away"))
	}
	return nil
}

func (s *servers) Register(_ context.Context, r *connect.Request[api.RegisterRequest]) (*connect.Response[api.RegisterReply], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.regs = append(s.regs, r.Msg)
	if f := r.Msg.GetForEpoch(); f != 0 && f != s.epoch {
		return connect.NewResponse(&api.RegisterReply{Epoch: s.epoch}), s.here()
	}
	if e := r.Msg.GetEpoch(); !s.away && e != 0 && e != s.epoch {
		if s.onAnew != nil {
			s.onAnew(r.Msg)
		}
		s.acked[r.Msg.GetSpoolId()] = max(s.acked[r.Msg.GetSpoolId()], r.Msg.GetToldSeq())
	}
	return connect.NewResponse(&api.RegisterReply{Epoch: s.epoch, AckedSeq: s.acked[r.Msg.GetSpoolId()], FenceSeconds: s.fence, Term: s.term, LowestOpen: s.lowest}), s.here()
}

func (s *servers) Facts(_ context.Context, r *connect.Request[api.FactsRequest]) (*connect.Response[api.FactsReply], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.here(); err != nil {
		return nil, err
	}
	id := r.Msg.GetSpoolId()
	for _, f := range r.Msg.GetFacts() {
		if f.GetSeq() == s.acked[id]+1 {
			s.acked[id]++
			s.facts = append(s.facts, f)
		}
	}
	return connect.NewResponse(&api.FactsReply{AckedSeq: s.acked[id]}), nil
}

func (s *servers) Samples(_ context.Context, r *connect.Request[api.SamplesRequest]) (*connect.Response[api.SamplesReply], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, r.Msg)
	return connect.NewResponse(&api.SamplesReply{}), s.here()
}

func (s *servers) Lease(_ context.Context, r *connect.Request[api.LeaseRequest]) (*connect.Response[api.LeaseReply], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases++
	if s.onLease != nil {
		s.onLease(r.Msg)
	}
	again := s.again
	s.again, s.held = false, r.Msg
	if r.Msg.Load != nil {
		s.loaded = r.Msg.Load
	}
	return connect.NewResponse(&api.LeaseReply{Epoch: s.epoch, Register: again, FenceSeconds: s.fence, Prove: s.prove, Load: s.wish}), s.here()
}

// load is what they were told last.
func (s *servers) load() *api.Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded
}

// renewal is the last one.
func (s *servers) renewal() *api.LeaseRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

func (s *servers) Script(_ context.Context, r *connect.Request[api.ScriptRequest], out *connect.ServerStream[api.ScriptReply]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.here(); err != nil {
		return err
	}
	if s.refusals[r.Msg.GetJob()] {
		return connect.NewError(connect.CodeNotFound, errors.New("not the present run"))
	}
	if r.Msg.GetConfirm() {
		return out.Send(&api.ScriptReply{Owner: s.owner})
	}
	script := s.scripts[r.Msg.GetJob()]
	half := len(script) / 2
	return errors.Join(out.Send(&api.ScriptReply{Data: []byte(script[:half])}), out.Send(&api.ScriptReply{Data: []byte(script[half:])}))
}

func (s *servers) set(change func(*servers)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// told returns the facts of a job, as short words.
func (s *servers) told(job string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var words []string
	for _, f := range s.facts {
		if f.GetJob() != job {
			continue
		}
		switch e := f.GetEnded(); {
		case f.GetStarted() != nil:
			words = append(words, fmt.Sprintf("%d started", f.GetRunCount()))
		case e.GetNeverStarted():
			words = append(words, fmt.Sprintf("%d never %d", f.GetRunCount(), e.GetExitStatus()))
		case e.GetLost():
			words = append(words, fmt.Sprintf("%d lost %d", f.GetRunCount(), e.GetExitStatus()))
		default:
			words = append(words, fmt.Sprintf("%d ended %d", f.GetRunCount(), e.GetExitStatus()))
		}
	}
	return words
}

func (s *servers) ended(job string) *api.Ended {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.facts {
		if f.GetJob() == job && f.GetEnded() != nil {
			return f.GetEnded()
		}
	}
	return nil
}

// direct carries requests without a network.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	d.ServeHTTP(rec, r)
	return rec.Result(), nil
}
