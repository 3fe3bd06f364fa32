package cli

import (
	"bytes"
	"fmt"
	"io"

	"rampart/fsm/pbs"
)

// ReadScript reads a job script. One longer than pbs.MaxScript bytes is refused with
// ScriptOverLimit: no server can be told to take more.
func ReadScript(in io.Reader) ([]byte, error) {
	var text bytes.Buffer
	n, err := io.Copy(&text, io.LimitReader(in, pbs.MaxScript+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the script: %w", err)
	case n > pbs.MaxScript:
		return nil, pbs.Refuse(pbs.ScriptOverLimit)
	}
	return text.Bytes(), nil
}
