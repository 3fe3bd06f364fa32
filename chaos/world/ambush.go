package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/chaos/fault"
	"rampart/mom/spool"
	"rampart/transport"
	"rampart/transport/api"
)

// ambushFor is how long an ambush waits for the command.
const ambushFor = 2 * time.Minute

// ambush kills the leader when it has applied a command of a kind, which it provokes
// unless it comes by itself. The client that asked for it must get an answer from the next leader. Or it
// boots a host of the job that the command is about.
func (k striker) ambush(s fault.Step) (string, bool) {
	t := k.traps.lay(s)
	defer k.traps.current.Store(nil)
	ctx, cancel := context.WithTimeout(k.life, ambushFor)
	defer cancel()
	undo := func() error { return nil }
	if act := deeds[s.Value]; act != nil {
		var err error
		if undo, err = act(k.World); err != nil {
			k.book.failed("ambush", err)
		}
	}
	if ask := requests[s.Value]; ask != nil {
		k.watching.Go(func() {
			if err := ask(k.life, k.World); err != nil && k.life.Err() == nil {
				k.book.failed("ambush", fmt.Errorf("ask for %s: %w", s.Value, err))
			}
		})
	}
	select {
	case hit := <-t.struck:
		if hit.m != nil {
			k.topple(hit, s)
			return fmt.Sprintf("%s: %s at index %d", s, hit.m.name, hit.index), true
		}
		k.traps.bury(hit, s.Value)
		if err := undo(); err != nil {
			k.book.failed("ambush", err)
		}
		return fmt.Sprintf("%s: %s at index %d", s, hit.r.name, hit.index), true
	case <-ctx.Done():
		if err := undo(); err != nil {
			k.book.failed("ambush", err)
		}
		return s.String(), false
	}
}

// deeds are what must be done to processes so that a kind of command comes; each returns
// what takes it back.
var deeds = map[string]func(w *World) (undo func() error, err error){
	"TermStarted": func(w *World) (func() error, error) { return w.put(w.leader().kill) },
	"HostUp":      func(w *World) (func() error, error) { return w.put(w.moms[0].kill, func() { w.moms[0].start(w.life) }) },
	"HostDown":    func(w *World) (func() error, error) { return w.put(w.moms[0].kill) },
	"HostFenced":  func(w *World) (func() error, error) { return w.put(w.moms[0].kill) },
	"ForgetHost":  func(w *World) (func() error, error) { return w.put(w.moms[0].kill) },
	"HostTrouble": func(w *World) (func() error, error) {
		// Nobody can write what is a folder, nor remove one that is not empty.
		probe := filepath.Join(spool.TasksDir(string(w.moms[0].config.Home)), ".probe")
		return func() error { return os.RemoveAll(probe) }, os.MkdirAll(filepath.Join(probe, "x"), 0o700)
	},
}

// put does what is not taken back: the next steps of a scenario start what is down.
func (*World) put(deeds ...func()) (func() error, error) {
	for _, do := range deeds {
		do()
	}
	return func() error { return nil }, nil
}

// requests are what somebody must ask for so that a kind of command comes.
var requests = map[string]func(ctx context.Context, w *World) error{
	"ManageServer":   manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SERVER, "", "comment", "a word"),
	"ManageQueue":    manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_QUEUE, SecondQueue, "Priority", "7"),
	"ManageVnode":    manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_VNODE, "host1", "comment", "a word"),
	"ManageResource": manage(api.Verb_VERB_CREATE, api.ObjectKind_OBJECT_KIND_RESOURCE, "colour", "type", "string"),
	"ShortenFence":   manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SERVER, "", fenceAttribute, "200"),
	"ManageHook":     manage(api.Verb_VERB_CREATE, api.ObjectKind_OBJECT_KIND_HOOK, "prepare", "event", "execjob_begin"),
	"HooksTold":      manage(api.Verb_VERB_CREATE, api.ObjectKind_OBJECT_KIND_HOOK, "prepare", "event", "execjob_begin"),
	"ImportHook":     importHook,
	"ManageSched":    manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SCHED, "", "comment", "a word"),
	"SignalJob":      ofJobs("R", 1, signal),
	"MessageJob":     ofJobs("R", 1, message),
	"MoveJob":        ofJobs("Q", 1, move),
	"SwapJobs":       ofJobs("Q", 2, swap),
	"SetRTTClass": func(ctx context.Context, w *World) error {
		_, err := w.members.RTTClass(ctx, connect.NewRequest(&api.RTTClassRequest{RttClass: "metro"}))
		return err
	},
	"Reserve":           reserve,
	"DecideReservation": reserve,
	"AlterReservation":  alterReservation,
	"DeleteReservation": deleteReservation,
	"CreateToken": func(ctx context.Context, w *World) error {
		_, err := w.token(ctx)
		return err
	},
	"Enrol":      enrol,
	"ForgetHost": forget,
	"RevokeToken": func(ctx context.Context, w *World) error {
		token, err := w.token(ctx)
		if err == nil {
			_, err = w.trust.RevokeToken(ctx, connect.NewRequest(&api.RevokeTokenRequest{Token: token}))
		}
		return err
	},
	"RevokeIdentity": func(ctx context.Context, w *World) error {
		err := enrol(ctx, w)
		if err == nil {
			_, err = w.trust.RevokeCertificate(ctx, connect.NewRequest(&api.RevokeCertificateRequest{Host: "host9"}))
		}
		return err
	},
	"TurnGossipKeys": func(ctx context.Context, w *World) error {
		_, err := w.trust.TurnGossipKey(ctx, connect.NewRequest(&api.TurnGossipKeyRequest{}))
		return err
	},
	"TurnRoots": turnRoots,

	LifeSuspendAsked: ofWide(toAndFro),
	LifeSuspended:    ofWide(toAndFro),
	LifeResumeAsked:  ofWide(toAndFro),
	LifeEndAsked:     ofWide(end),

	ReservationMade:   ofJobs("R", 1, reserveOf),
	ReservationHurt:   loseVnodes,
	ReservationSought: loseVnodes,
	ReservationWell:   loseVnodes,
}

func manage(verb api.Verb, kind api.ObjectKind, name, attr, value string) func(context.Context, *World) error {
	return func(ctx context.Context, w *World) error {
		_, err := w.manager.Manage(ctx, connect.NewRequest(&api.ManageRequest{
			Verb: verb, Kind: kind, Name: name, Changes: []*api.Attribute{{Name: attr, Value: value}},
		}))
		return err
	}
}

// importHook gives a hook a configuration file; no interpreter looks at it.
func importHook(ctx context.Context, w *World) error {
	if err := manage(api.Verb_VERB_CREATE, api.ObjectKind_OBJECT_KIND_HOOK, "prepare", "event", "execjob_begin")(ctx, w); err != nil {
		return err
	}
	_, err := w.manager.ImportHook(ctx, connect.NewRequest(&api.ImportHookRequest{
		Hook: "prepare", Kind: api.HookFileKind_HOOK_FILE_KIND_CONFIG, Content: []byte("a word\n"),
	}))
	return err
}

// ofJobs asks something of so many jobs of a state, as soon as there are some of which it is
// not refused.
func ofJobs(letter string, count int, ask func(ctx context.Context, w *World, jobs []string) error) func(context.Context, *World) error {
	return func(ctx context.Context, w *World) error {
		for {
			found, err := w.jobsIn(ctx, letter)
			if err != nil {
				return err
			}
			for jobs := range slices.Chunk(found, count) {
				if len(jobs) == count && ask(ctx, w, jobs) == nil {
					return nil
				}
			}
			if !pause(ctx) {
				return ctx.Err()
			}
		}
	}
}

// jobsIn lists the jobs of a state, without arrays and subjobs.
func (w *World) jobsIn(ctx context.Context, letter string) ([]string, error) {
	stream, err := w.manager.List(ctx, connect.NewRequest(&api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Attributes: []string{"job_state"},
	}))
	if err != nil {
		return nil, err
	}
	var found []string
	for stream.Receive() {
		for _, o := range stream.Msg().GetObjects() {
			if len(o.GetAttributes()) == 1 && o.GetAttributes()[0].GetValue() == letter && !strings.Contains(o.GetName(), "[") {
				found = append(found, o.GetName())
			}
		}
	}
	return found, errors.Join(stream.Err(), stream.Close())
}

func signal(ctx context.Context, w *World, jobs []string) error {
	_, err := w.manager.Signal(ctx, connect.NewRequest(&api.SignalRequest{Job: jobs[0], Signal: "CONT"})) // it does no harm
	return err
}

func message(ctx context.Context, w *World, jobs []string) error {
	_, err := w.manager.Message(ctx, connect.NewRequest(&api.MessageRequest{Job: jobs[0], Text: "a word", Error: true}))
	return err
}

func move(ctx context.Context, w *World, jobs []string) error {
	_, err := w.manager.Move(ctx, connect.NewRequest(&api.MoveRequest{Job: jobs[0], Destination: SecondQueue}))
	return err
}

func swap(ctx context.Context, w *World, jobs []string) error {
	_, err := w.manager.Swap(ctx, connect.NewRequest(&api.SwapRequest{Job: jobs[0], Other: jobs[1]}))
	return err
}

func (w *World) token(ctx context.Context) (string, error) {
	reply, err := w.admin.CreateToken(ctx, connect.NewRequest(&api.CreateTokenRequest{Role: string(transport.RoleMom)}))
	if err != nil {
		return "", err
	}
	return reply.Msg.GetToken(), nil
}

// enrol enrols a host that never comes.
func enrol(ctx context.Context, w *World) error {
	token, err := w.token(ctx)
	if err != nil {
		return err
	}
	key, err := transport.NewKey()
	if err != nil {
		return err
	}
	csr, err := transport.NewCSR(key)
	if err != nil {
		return err
	}
	_, err = w.admin.Join(ctx, connect.NewRequest(&api.JoinRequest{Token: token, Host: "host9", Csr: csr}))
	return err
}

// turnRoots begins to replace the CA, whose new key is lost to the others with the leader,
// and gives it up: nobody here would learn of a new one.
func turnRoots(ctx context.Context, w *World) error {
	for _, way := range []api.TurnCARequest_Way{api.TurnCARequest_WAY_BEGIN, api.TurnCARequest_WAY_ABANDON} {
		if _, err := w.trust.TurnCA(ctx, connect.NewRequest(&api.TurnCARequest{Way: way})); err != nil {
			return err
		}
	}
	return nil
}

// forget declares a host dead, again and again until that is accepted, when the host is down.
func forget(ctx context.Context, w *World) error {
	for {
		_, err := w.admin.ForgetHost(ctx, connect.NewRequest(&api.ForgetHostRequest{Host: w.moms[0].name}))
		if err == nil || !pause(ctx) {
			return err
		}
	}
}

// pause lets a moment pass before something is asked again; not ok if ctx ended.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(500 * time.Millisecond):
		return true
	}
}
