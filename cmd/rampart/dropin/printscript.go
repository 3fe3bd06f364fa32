package dropin

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"connectrpc.com/connect"

	"rampart/mom/spool"
	"rampart/transport/api"
)

// printScript prints the script of a job, as the replicas or the mom of this host have it: printjob -s.
func (c *call) printScript(ctx context.Context, operand string, ofFile bool) error {
	if ofFile {
		return c.scriptOfFile(operand)
	}
	asker, err := c.asker(operand)
	if err != nil {
		return err
	}
	defer asker.Close()
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	stream, err := asker.Batch().JobScript(ctx, connect.NewRequest(&api.JobScriptRequest{Job: operand}))
	if err != nil {
		return err
	}
	defer stream.Close()
	return c.writeScript(operand, func(out io.Writer) error {
		for stream.Receive() {
			if _, err := out.Write(stream.Msg().GetData()); err != nil {
				return err
			}
		}
		return stream.Err()
	})
}

// scriptOfFile prints the script that the mom of this host has run last.
func (c *call) scriptOfFile(path string) error {
	last, err := lastRun(path)
	if err != nil {
		return err
	}
	file, err := os.Open(spool.ScriptPath(filepath.Dir(path), last.Key))
	if err != nil {
		return fmt.Errorf("script of %s: %w", last.Key.Job, err)
	}
	defer file.Close()
	return c.writeScript(string(last.Key.Job), func(out io.Writer) error {
		_, err := io.Copy(out, file)
		return err
	})
}

// writeScript writes a script as PBS's printjob does, when its first bytes are there.
func (c *call) writeScript(job string, script func(io.Writer) error) error {
	headed := &headed{out: c.world.Stdout, head: fmt.Sprintf("%s\nJobscript for jobid:\t%s\n%s\n\n", line, job, line)}
	if err := script(headed); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.world.Stdout)
	return err
}

// A headed writer writes a head before the first bytes: of what fails before there are any nothing is printed.
type headed struct {
	out  io.Writer
	head string
}

func (h *headed) Write(p []byte) (int, error) {
	if _, err := io.WriteString(h.out, h.head); err != nil {
		return 0, err
	}
	h.head = ""
	return h.out.Write(p)
}
