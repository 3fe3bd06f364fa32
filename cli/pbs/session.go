package pbs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// A session is one command's talk with the server: where it asks, under which
// request id, and what went wrong last.
type session struct {
	env     *cli.Env
	command *cli.Command
	target  cli.Target
	home    apiconnect.BatchClient            // of the server that is meant where none is named
	batch   apiconnect.BatchClient            // of the one that is meant now, called meant
	others  map[string]apiconnect.BatchClient // of servers that operands have named
	meant   string

	requestID string
	calls     int
	status    int    // of the last error
	quiet     bool   // say nothing of single objects that fail
	server    string // the cluster's server name, once it was needed
}

// open prepares to talk; nothing is sent yet.
func open(env *cli.Env, c *cli.Command, opts *cli.Options) (*session, error) {
	s := &session{env: env, command: c, target: env.Target(opts.Last("server")), others: map[string]apiconnect.BatchClient{}}
	batch, err := env.Batch(s.target)
	if err != nil {
		return nil, err
	}
	s.home, s.batch, s.meant = batch, batch, s.target.Server
	s.requestID = env.Getenv("PBS_REQUEST_ID")
	if s.requestID == "" {
		s.requestID = env.NewRequestID()
	}
	return s, nil
}

// only returns the context of a command's single change.
func (s *session) only(ctx context.Context) context.Context {
	return s.env.WithRequestID(ctx, s.requestID)
}

// next returns the context of the next of several changes: the id plus the
// operand's number, so that a repeat of the whole command repeats each of them.
func (s *session) next(ctx context.Context) context.Context {
	s.calls++
	return s.env.WithRequestID(ctx, fmt.Sprintf("%s.%d", s.requestID, s.calls))
}

// explain returns the failure, with what to do about an unknown outcome.
func (s *session) explain(err error) cli.Failure {
	located := cli.Located(s.meant, err)
	f := cli.Explain(located)
	if f.Status == pbs.UnknownResult.ExitStatus() {
		f.Text += fmt.Sprintf("; to learn the outcome repeat the command with PBS_REQUEST_ID=%s", s.requestID)
	}
	return f
}

// fail tells the user and notes the status. It returns true if it is no use to go
// on with further operands: those may be of another server than one that is unknown.
func (s *session) fail(err error, format func(text string) string) bool {
	f := s.explain(err)
	text := f.Text
	if !f.Fatal && format != nil {
		text = format(text)
	}
	s.complain(text, f.Status)
	return f.Fatal && !(s.meant != s.target.Server && errors.Is(err, pbs.Refuse(pbs.NoServer)))
}

func (s *session) complain(text string, status int) {
	fmt.Fprintf(s.env.Stderr, "%s: %s\n", s.command.Name, text)
	s.status = status
}

// end returns the command's error: nil, or the status of the last one told.
func (s *session) end() error {
	if s.status == 0 {
		return nil
	}
	return cli.Status(s.status)
}

// fullID completes a job identifier with the server's name, for messages.
func (s *session) fullID(ctx context.Context, id string) string {
	bare, _, _ := strings.Cut(id, "@")
	if strings.Contains(bare, ".") {
		return bare
	}
	return bare + "." + s.serverName(ctx)
}

// serverName asks for the server's name; job identifiers end in it.
func (s *session) serverName(ctx context.Context) string {
	if s.server != "" {
		return s.server
	}
	s.server = s.target.Server
	_ = s.list(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SERVER, Attributes: []string{"server_host"}},
		func(h *api.ListHeader) error {
			s.server = h.Server
			return nil
		}, nil) // on an error the name we know it by must do
	return s.server
}

// list reads objects; begin is called once, each for every object as it comes. A
// read has no outcome that could be unknown: nobody answered it.
func (s *session) list(ctx context.Context, r *api.ListRequest, begin func(*api.ListHeader) error, each func(*api.Object) error) error {
	if r.GetHistory() && r.GetKind() == api.ObjectKind_OBJECT_KIND_JOB {
		if err := s.keepsHistory(ctx, r.GetStale()); err != nil {
			return err
		}
	}
	err := s.stream(ctx, r, begin, each)
	if errors.Is(err, pbs.Refuse(pbs.UnknownResult)) || connect.CodeOf(err) == connect.CodeDeadlineExceeded {
		return &cli.Unreachable{Server: s.meant, Err: errors.New("no answer in time")}
	}
	return err
}

// keepsHistory refuses to ask a server for finished jobs that keeps none, as a PBS does. A replica that has just come back may not know
// yet that they are kept: stale as what is asked for then.
func (s *session) keepsHistory(ctx context.Context, stale bool) error {
	keeps := false
	r := &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SERVER, Attributes: []string{"job_history_enable"}, Stale: stale}
	err := s.list(ctx, r, nil, func(o *api.Object) error {
		keeps = keeps || slices.ContainsFunc(o.GetAttributes(), func(a *api.Attribute) bool { return a.GetName() == "job_history_enable" && a.GetValue() == "True" })
		return nil
	})
	if err == nil && !keeps {
		err = pbs.Refuse(pbs.NoHistory)
	}
	return err
}

func (s *session) stream(ctx context.Context, r *api.ListRequest, begin func(*api.ListHeader) error, each func(*api.Object) error) error {
	stream, err := s.batch.List(ctx, connect.NewRequest(r))
	if err != nil {
		return err
	}
	defer stream.Close()
	begun := false
	for stream.Receive() {
		m := stream.Msg()
		if !begun && m.Header != nil && begin != nil {
			if err := begin(m.Header); err != nil {
				return err
			}
		}
		begun = true
		for _, o := range m.Objects {
			if each == nil {
				continue
			}
			if err := each(o); err != nil {
				return err
			}
		}
	}
	return stream.Err()
}

// objects reads all objects at once, for listings that are small.
func (s *session) objects(ctx context.Context, r *api.ListRequest) (*api.ListHeader, []*api.Object, error) {
	header := new(api.ListHeader)
	var all []*api.Object
	err := s.list(ctx, r, func(h *api.ListHeader) error {
		header = h
		return nil
	}, func(o *api.Object) error {
		all = append(all, o)
		return nil
	})
	return header, all, err
}

// refusal returns the refusal that stands in place of an object.
func refusal(o *api.Object) *pbs.Error { return cli.Refusal(o) }

// mean makes the server that an operand names after "@" the one that is asked; "" and "default"
// mean the server of the command's environment.
func (s *session) mean(name string) error {
	if name == "" || name == "default" || name == s.target.Server {
		s.batch, s.meant = s.home, s.target.Server
		return nil
	}
	return s.ask(name, "@"+name, s.target.Meaning(name))
}

// meanOf does so for an identifier of a job, JOB[.SERVER][@SERVER], and returns it without
// what stands after "@".
func (s *session) meanOf(id string) (bare string, err error) {
	bare, name, at := strings.Cut(id, "@")
	_, server, _ := strings.Cut(bare, ".")
	if at || server == "" || server == s.target.Server || len(s.target.Names) == 0 {
		return bare, s.mean(name)
	}
	return bare, s.ask(s.target.Server, server, s.target.Or(server))
}

func (s *session) ask(name, key string, t cli.Target) error {
	s.meant = name
	if batch, ok := s.others[key]; ok {
		s.batch = batch
		return nil
	}
	batch, err := s.env.Batch(t)
	if err != nil {
		return err
	}
	s.batch, s.others[key] = batch, batch
	return nil
}

// checkServer refuses a server that is nobody's before anything is asked of it.
func (s *session) checkServer(ctx context.Context, name string) error {
	if err := s.mean(name); err != nil || s.meant == s.target.Server {
		return err
	}
	return s.reach(ctx)
}

// reach asks whether the server that is meant answers.
func (s *session) reach(ctx context.Context) error {
	_, _, err := s.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SERVER, Attributes: []string{"server_host"}})
	return cli.Located(s.meant, err)
}

// noSupport is the answer to options of features that are yet to come.
func noSupport() error { return pbs.Refuse(pbs.NotSupported) }
