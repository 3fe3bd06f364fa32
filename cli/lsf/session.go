package lsf

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// A session is one command's talk with the server.
type session struct {
	env     *cli.Env
	command *cli.Command
	target  cli.Target
	batch   apiconnect.BatchClient

	requestID string
	calls     int
	status    int
}

func open(env *cli.Env, c *cli.Command, opts *cli.Options) (*session, error) {
	s := &session{env: env, command: c, target: env.Target(opts.Last("server"))}
	s.requestID = env.Getenv("PBS_REQUEST_ID")
	if s.requestID == "" {
		s.requestID = env.NewRequestID()
	}
	var err error
	s.batch, err = env.Batch(s.target)
	return s, err
}

// only returns the context of a command's single change.
func (s *session) only(ctx context.Context) context.Context {
	return s.env.WithRequestID(ctx, s.requestID)
}

// next returns the context of the next of several changes (L8).
func (s *session) next(ctx context.Context) context.Context {
	s.calls++
	return s.env.WithRequestID(ctx, fmt.Sprintf("%s.%d", s.requestID, s.calls))
}

// A told error is a text that is printed as it is.
type told string

// Error returns the text.
func (t told) Error() string { return string(t) }

// A rejected error says why a job is not submitted, or not modified.
type rejected string

// Error returns the text.
func (r rejected) Error() string { return string(r) }

// notDone puts behind a rejection what has not been done with the job.
func notDone(err error, what string) error {
	if r, ok := errors.AsType[rejected](err); ok {
		return told(fmt.Sprintf("%s. Job not %s.", string(r), what))
	}
	return err
}

// explain returns what is printed of an error.
func (s *session) explain(err error) cli.Failure {
	if t, ok := errors.AsType[told](err); ok {
		return cli.Failure{Text: string(t), Status: failed}
	}
	f := cli.Explain(cli.Located(s.target.Server, err))
	if f.Status == pbs.UnknownResult.ExitStatus() {
		f.Text += fmt.Sprintf("; to learn the outcome repeat the command with PBS_REQUEST_ID=%s", s.requestID)
	}
	return f
}

// failure ends the command with an error: a text of LSF alone, others with the name of the command.
func (s *session) failure(err error) error {
	var status cli.Status
	var usage *cli.UsageError
	if errors.As(err, &status) || errors.As(err, &usage) {
		return err
	}
	if t, ok := errors.AsType[told](err); ok {
		return s.complain(string(t)).end()
	}
	return s.complain(s.command.Name + ": " + s.explain(err).Text).end()
}

// complain prints a text of LSF, and has the command fail.
func (s *session) complain(text string) *session {
	fmt.Fprintln(s.env.Stderr, text)
	s.status = failed
	return s
}

func (s *session) end() error {
	if s.status == 0 {
		return nil
	}
	return cli.Status(s.status)
}

// list reads objects; each is called for every one as it comes.
func (s *session) list(ctx context.Context, r *api.ListRequest, each func(*api.Object) error) (*api.ListHeader, error) {
	stream, err := s.batch.List(ctx, connect.NewRequest(r))
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var header *api.ListHeader
	for stream.Receive() {
		m := stream.Msg()
		if m.Header != nil && header == nil {
			header = m.Header
		}
		for _, o := range m.Objects {
			if err := each(o); err != nil {
				return header, err
			}
		}
	}
	if err := stream.Err(); err != nil {
		if errors.Is(err, pbs.Refuse(pbs.UnknownResult)) || connect.CodeOf(err) == connect.CodeDeadlineExceeded {
			err = &cli.Unreachable{Server: s.target.Server, Err: errors.New("no answer in time")}
		}
		return header, err
	}
	return header, nil
}

// objects reads all objects at once, for listings that are small.
func (s *session) objects(ctx context.Context, r *api.ListRequest) (*api.ListHeader, []*api.Object, error) {
	var all []*api.Object
	header, err := s.list(ctx, r, func(o *api.Object) error {
		all = append(all, o)
		return nil
	})
	return header, all, err
}

// resources reads the resources that the site has made.
func (s *session) resources(ctx context.Context) ([]resource.Def, error) {
	_, all, err := s.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_RESOURCE})
	defs := make([]resource.Def, 0, len(all))
	for _, o := range all {
		def := resource.Def{Name: o.Name}
		if def.Type, err = resource.ParseType(value(o, "type")); err != nil {
			continue // of a newer build
		}
		def.Flags, _ = resource.ParseFlags(value(o, "flag"))
		defs = append(defs, def)
	}
	return defs, err
}

// An offer is what a host has, several vnodes of it summed.
type offer struct {
	*api.Object
	slots int
}

// hosts reads the execution hosts in the order of their first vnode.
func (s *session) hosts(ctx context.Context) (*api.ListHeader, []offer, error) {
	header, all, err := s.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_HOST})
	hosts := make([]offer, 0, len(all))
	for _, o := range all {
		hosts = append(hosts, offer{o, number(amount(o, "resources_available", "ncpus"))})
	}
	return header, hosts, err
}

func value(o *api.Object, name string) string { return amount(o, name, "") }

func amount(o *api.Object, name, resource string) string {
	for _, a := range o.Attributes {
		if a.Name == name && a.Resource == resource {
			return a.Value
		}
	}
	return ""
}

// jobNumber returns a job id as LSF shows it: without the server, of a subjob with its index.
func jobNumber(id string) string {
	n, _, _ := strings.Cut(id, ".")
	return strings.TrimSuffix(n, "[]")
}

// number reads a count that the server has printed, 0 if there is none.
func number(text string) int {
	q, err := resource.Parse(resource.Long, text)
	if err != nil {
		return 0
	}
	return int(q.Int())
}

// megabytes returns whole megabytes of a size that the server has printed; false: there is none.
func megabytes(text string) (int64, bool) {
	q, err := resource.Parse(resource.Size, text)
	if text == "" || err != nil {
		return 0, false
	}
	return q.Int() >> 10, true
}
