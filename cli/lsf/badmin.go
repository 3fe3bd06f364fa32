package lsf

import (
	"bufio"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

const badminUsage = `badmin [-h] [-V] reconfig [-v] [-f]
       badmin ckconfig [-v]
       badmin dumpconf folder
       badmin qopen | qclose | qact | qinact [queue_name ... | all]
       badmin hopen | hclose [-C comment] [host_name ... | all]
       badmin showstatus
`

func badmin() *cli.Command {
	return command("badmin", "configure the cluster, and open and close queues and hosts", badminUsage, cli.Grammar{Letters: "vfC:"},
		func(ctx context.Context, s *session, opts *cli.Options) error {
			if len(opts.Operands) == 0 {
				return told("badmin: no command, expected reconfig, ckconfig, dumpconf, qopen, qclose, qact, qinact, hopen, hclose or showstatus")
			}
			verb, rest := opts.Operands[0], opts.Operands[1:]
			switch verb {
			case "reconfig", "ckconfig":
				if len(rest) > 0 {
					return told("badmin: " + verb + " takes no names")
				}
				return s.reconfigure(ctx, verb == "ckconfig", opts)
			case "showstatus":
				if len(rest) > 0 {
					return told("badmin: showstatus takes no names")
				}
				return showStatus(ctx, s)
			case "dumpconf":
				if len(rest) != 1 {
					return told("badmin: dumpconf takes the name of one folder")
				}
				return s.dumpConfiguration(ctx, rest[0])
			}
			if change, ok := queueVerbs[verb]; ok {
				return s.turnQueues(ctx, change, rest)
			}
			if change, ok := hostVerbs[verb]; ok {
				return s.turnHosts(ctx, change, rest, opts.Last("C"))
			}
			return told("badmin: no such command: " + verb)
		})
}

// reconfigure checks the files, tells what is wrong with them, and has them hold (specification: reservation section 8.7).
func (s *session) reconfigure(ctx context.Context, check bool, opts *cli.Options) error {
	out := s.env.Stdout
	fmt.Fprint(out, "\nChecking configuration files ...\n\n")
	quiet := opts.Has("f")
	asks := !quiet && !opts.Has("v") && s.env.Terminal()
	reply, err := s.configure(ctx, check || asks)
	if err != nil {
		return err
	}
	if reply.GetFatal() {
		return s.aborted(reply, check)
	}
	in := bufio.NewReader(s.env.Stdin)
	confirmed := true
	if len(reply.GetMessages()) == 0 {
		fmt.Fprint(out, "No errors found.\n\n")
	} else {
		if !asks && !quiet {
			s.messages(reply.GetMessages())
		}
		fmt.Fprint(out, "There are warning errors.\n\n")
		if asks && yes(s, in, "Do you want to see detailed messages? [y/n] ") {
			s.messages(reply.GetMessages())
		}
		confirmed = !asks || check || yes(s, in, "Do you want to reconfigure? [y/n] ")
	}
	switch {
	case check:
		return nil
	case !confirmed:
		fmt.Fprintln(out, "Reconfiguration aborted.")
		return cli.Status(failed)
	case asks: // nothing was changed yet, and the files may be others by now
		if reply, err = s.configure(ctx, false); err != nil {
			return err
		}
		if reply.GetFatal() {
			return s.aborted(reply, check)
		}
	}
	fmt.Fprintln(out, "Reconfiguration initiated")
	return nil
}

// aborted tells of fatal errors.
func (s *session) aborted(reply *api.ConfigureReply, check bool) error {
	s.messages(reply.GetMessages())
	fmt.Fprint(s.env.Stdout, "There are fatal errors.\n\n")
	if !check {
		fmt.Fprintln(s.env.Stdout, "Reconfiguration aborted.")
	}
	return cli.Status(failed)
}

func (s *session) messages(all []string) {
	for _, text := range all {
		fmt.Fprintln(s.env.Stdout, text)
	}
	fmt.Fprintln(s.env.Stdout)
}

// yes asks a question until it is answered; the end of the input is a no.
func yes(s *session, in *bufio.Reader, question string) bool {
	for {
		fmt.Fprint(s.env.Stdout, question)
		line, err := in.ReadString('\n')
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true
		case "n", "no":
			return false
		}
		if err != nil {
			return false
		}
	}
}

func (s *session) configure(ctx context.Context, check bool) (*api.ConfigureReply, error) {
	reply, err := s.batch.Configure(s.next(ctx), connect.NewRequest(&api.ConfigureRequest{Check: check}))
	if pbs.CodeOf(err) == pbs.Unauthorized {
		return nil, told("User permission denied")
	}
	if err != nil {
		return nil, err
	}
	return reply.Msg, nil
}

// configurationFiles reads what holds, as files.
func (s *session) configurationFiles(ctx context.Context) ([]*api.ConfigurationFile, error) {
	reply, err := s.batch.Configuration(ctx, connect.NewRequest(&api.ConfigurationRequest{}))
	if err != nil {
		return nil, err
	}
	return reply.Msg.GetFiles(), nil
}

func (s *session) dumpConfiguration(ctx context.Context, folder string) error {
	files, err := s.configurationFiles(ctx)
	if err != nil {
		return err
	}
	if err := s.env.MakeFolder(folder); err != nil {
		return told(fmt.Sprintf("badmin: %s", err))
	}
	for _, f := range files {
		path := filepath.Join(folder, filepath.Base(f.GetName()))
		if err := s.env.WriteFile(path, f.GetText()); err != nil {
			return told(fmt.Sprintf("badmin: %s", err))
		}
		fmt.Fprintln(s.env.Stdout, path)
	}
	return nil
}

// A turn opens or closes something.
type turn struct {
	attribute, value, done string
	op                     api.Op
}

var queueVerbs = map[string]turn{
	"qopen":  {"enabled", "True", "opened", api.Op_OP_SET},
	"qclose": {"enabled", "False", "closed", api.Op_OP_SET},
	"qact":   {"started", "True", "activated", api.Op_OP_SET},
	"qinact": {"started", "False", "inactivated", api.Op_OP_SET},
}

var hostVerbs = map[string]turn{
	"hopen":  {"state", "offline", "Open", api.Op_OP_DECREASE},
	"hclose": {"state", "offline", "Close", api.Op_OP_INCREASE},
}

func (s *session) set(ctx context.Context, kind api.ObjectKind, name string, changes ...*api.Attribute) error {
	_, err := s.batch.Manage(s.next(ctx), connect.NewRequest(&api.ManageRequest{Verb: api.Verb_VERB_SET, Kind: kind, Name: name, Changes: changes}))
	if pbs.CodeOf(err) == pbs.Unauthorized {
		return told("User permission denied")
	}
	return err
}

func (s *session) turnQueues(ctx context.Context, t turn, names []string) error {
	request := &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_QUEUE, Names: names}
	switch {
	case len(names) == 1 && names[0] == "all":
		request.Names = nil
	case len(names) == 0:
		return told("badmin: which queue? Name some, or all")
	}
	_, all, err := s.objects(ctx, request)
	if err != nil {
		return err
	}
	for _, o := range all {
		if o.Refusal != nil {
			s.complain(o.Name + ": No such queue")
			continue
		}
		if err := s.set(ctx, api.ObjectKind_OBJECT_KIND_QUEUE, o.Name, &api.Attribute{Name: t.attribute, Value: t.value, Op: t.op}); err != nil {
			return err
		}
		fmt.Fprintf(s.env.Stdout, "Queue <%s> is %s\n", o.Name, t.done)
	}
	return nil
}

func (s *session) turnHosts(ctx context.Context, t turn, names []string, comment string) error {
	_, hosts, err := s.hosts(ctx)
	if err != nil {
		return err
	}
	switch {
	case len(names) == 0:
		return told("badmin: which host? Name some, or all")
	case len(names) == 1 && names[0] == "all":
		names = nil
	}
	for _, h := range s.chosenHosts(hosts, names, "Bad host name, host group name or cluster name") {
		changes := []*api.Attribute{{Name: t.attribute, Value: t.value, Op: t.op}}
		if comment != "" {
			changes = append(changes, &api.Attribute{Name: "comment", Value: comment})
		}
		if err := s.set(ctx, api.ObjectKind_OBJECT_KIND_HOST, h.Name, changes...); err != nil {
			return err
		}
		fmt.Fprintf(s.env.Stdout, "%s <%s> ...... done\n", t.done, h.Name)
	}
	return nil
}
