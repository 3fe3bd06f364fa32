package lsf

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/lsf"
	"rampart/transport/api"
)

// messageTime is how the time of a message is shown.
const messageTime = "Jan _2 15:04"

func bpost() *cli.Command {
	usage := "bpost [-h] [-V] [-i message_index] [-d description] job_ID ...\n"
	return command("bpost", "post a message to a job", usage, cli.Grammar{Letters: "i:d:a:N:C:"}, func(ctx context.Context, s *session, opts *cli.Options) error {
		if opts.Has("a") {
			return refusedOption("a", "put what others are to have into a file, and its path into the message")
		}
		if err := refuseOptions(opts, "N", "C"); err != nil {
			return err
		}
		text := "no description"
		if opts.Has("d") {
			text = opts.Last("d")
		}
		return post(ctx, s, opts, text, "posted")
	})
}

func bstatus() *cli.Command {
	usage := "bstatus [-h] [-V] [-d description] job_ID ...\n"
	return command("bstatus", "set or show the external status of a job", usage, cli.Grammar{Letters: "d:"}, func(ctx context.Context, s *session, opts *cli.Options) error {
		if opts.Has("d") {
			return post(ctx, s, opts, opts.Last("d"), "updated")
		}
		return readMessages(ctx, s, opts, "JOBID      FROM       UPDATE_TIME    STATUS\n", func(id string, m lsf.Message, at time.Time) string {
			return fmt.Sprintf("%-10s %-10.10s %-14s %s\n", id, m.From, at.Format(messageTime), m.Text)
		})
	})
}

func bread() *cli.Command {
	usage := "bread [-h] [-V] [-i message_index] [-w] job_ID ...\n"
	return command("bread", "show the messages of a job", usage, cli.Grammar{Letters: "i:wa:N"}, func(ctx context.Context, s *session, opts *cli.Options) error {
		if err := refuseOptions(opts, "a", "N"); err != nil {
			return err
		}
		width := 35
		if opts.Has("w") {
			width = 512
		}
		return readMessages(ctx, s, opts, "JOBID      MSG_ID  FROM       POST_TIME      DESCRIPTION\n", func(id string, m lsf.Message, at time.Time) string {
			return fmt.Sprintf("%-10s %-7d %-10.10s %-14s %.*s\n", id, m.Index, m.From, at.Format(messageTime), width, m.Text)
		})
	})
}

// messageIndex reads -i, 0 without it: false if it is none.
func messageIndex(opts *cli.Options) (index int, err error) {
	if !opts.Has("i") {
		return 0, nil
	}
	index, err = strconv.Atoi(opts.Last("i"))
	if err != nil || index < 0 || index > 128 {
		return 0, told(fmt.Sprintf("-i %s: expected an index from 0 to 128", opts.Last("i")))
	}
	return index, nil
}

// post gives jobs a message: it takes the place of the one with the same index.
func post(ctx context.Context, s *session, opts *cli.Options, text, done string) error {
	index, err := messageIndex(opts)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" || len(text) > 512 {
		return told("-d: expected a text of 1 to 512 characters")
	}
	if len(opts.Operands) == 0 {
		return s.command.Misuse("Job ID must be specified")
	}
	for _, operand := range opts.Operands {
		err := s.one(ctx, operand, fmt.Sprintf("message %d is %s", index, done), func(ctx context.Context, j job) error {
			_, err := s.batch.Alter(ctx, connect.NewRequest(&api.AlterRequest{
				Job: j.Name, Lsf: true, Changes: []*api.Attribute{{Name: lsf.JobMessages, Value: strconv.Itoa(index) + " " + text}},
			}))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readMessages shows messages of jobs: those of an index, or with -i of another one; all of bread without -i.
func readMessages(ctx context.Context, s *session, opts *cli.Options, head string, row func(string, lsf.Message, time.Time) string) error {
	index, err := messageIndex(opts)
	if err != nil {
		return err
	}
	every := s.command.Name == "bread" && !opts.Has("i")
	if len(opts.Operands) == 0 {
		return s.command.Misuse("Job ID must be specified")
	}
	out := bufio.NewWriter(s.env.Stdout)
	for _, operand := range opts.Operands {
		jobs, err := s.jobsOf(ctx, operand, nil)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			found := false
			for _, m := range lsf.ReadMessages(j.get(lsf.JobMessages)) {
				if !every && m.Index != index {
					continue
				}
				if !found || head != "" {
					out.WriteString(head)
					head = ""
				}
				found = true
				out.WriteString(row(j.id, m, time.Unix(m.At, 0).In(s.env.Zone)))
			}
			if !found {
				_ = out.Flush()
				s.complain(fmt.Sprintf("Job <%s>: Cannot find the message", j.id))
			}
		}
	}
	return out.Flush()
}

// messagesShown returns the messages of a job in the long form.
func (j job) messagesShown(zone *time.Location) string {
	var b strings.Builder
	for i, m := range lsf.ReadMessages(j.get(lsf.JobMessages)) {
		if i == 0 {
			b.WriteString("\n EXTERNAL MESSAGES:\n MSG_ID FROM       POST_TIME      MESSAGE                             ATTACHMENT\n")
		}
		fmt.Fprintf(&b, " %-6d %-10.10s %-14s %-35s %s\n", m.Index, m.From, time.Unix(m.At, 0).In(zone).Format(messageTime), m.Text, "N")
	}
	return b.String()
}
