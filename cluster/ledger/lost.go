package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// lostName is the file that names the records which no replica had any more, so
// that they are not asked for again: lines of a first and a last number.
const lostName = ".lost"

func readLost(dir string) (numbers, error) {
	f, err := os.Open(filepath.Join(dir, lostName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of lost records: %w", err)
	}
	defer f.Close()
	var lost numbers
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var r stretch
		if n, _ := fmt.Sscanf(lines.Text(), "%d %d", &r.first, &r.last); n == 2 && r.first <= r.last {
			lost = append(lost, r)
		}
	}
	return numbers(nil).plus(lost), lines.Err()
}

func noteLost(dir string, lost numbers) error {
	f, err := openAppend(filepath.Join(dir, lostName))
	if err != nil {
		return err
	}
	for _, r := range lost {
		_, err1 := fmt.Fprintf(f, "%d %d\n", r.first, r.last)
		err = errors.Join(err, err1)
	}
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("note lost records: %w", err)
	}
	return nil
}
