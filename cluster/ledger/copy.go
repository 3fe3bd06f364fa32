package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"rampart/transport/disk"
)

// Verify reads all records of a folder that nobody writes and returns the number of the last
// one, 0 if there is none. A file that is not whole is an error.
func Verify(ctx context.Context, dir string) (last uint64, err error) {
	all, err := spans(dir)
	if err != nil {
		return 0, fmt.Errorf("verify accounting: %w", err)
	}
	for _, s := range all {
		if err := verifyDay(ctx, dir, s.day); err != nil {
			return 0, fmt.Errorf("verify accounting: %w", err)
		}
		last = max(last, s.last)
	}
	return last, nil
}

func verifyDay(ctx context.Context, dir, day string) (err error) {
	s, err := openScan(dir, day, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, err := range s.records(ctx, everything) {
		if err != nil {
			return err
		}
	}
	if !s.clean {
		return fmt.Errorf("accounting file %s is damaged", day)
	}
	return nil
}

// Copy writes the records of a folder with numbers up to last into another one, behind those
// that are there. What it copies may be written meanwhile. Numbers that are nowhere are left
// out, and so is what was noted of lost ones.
func Copy(ctx context.Context, from, to string, last uint64) (err error) {
	b, err := openBook(to, 0)
	if err != nil {
		return fmt.Errorf("copy accounting: %w", err)
	}
	defer func() { err = errors.Join(err, b.close()) }()
	var batch []Record
	for r, err := range Read(from, b.next, last) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("copy accounting: %w", err)
		}
		if batch = append(batch, r); len(batch) == atOnce {
			if err := b.writeOver(batch); err != nil {
				return fmt.Errorf("copy accounting: %w", err)
			}
			batch = nil
		}
	}
	err = errors.Join(b.writeOver(batch), b.sync(), copyLost(from, to))
	if err != nil {
		return fmt.Errorf("copy accounting: %w", err)
	}
	return disk.SyncDir(to)
}

// writeOver writes records, and goes over numbers that are missing between them.
func (b *book) writeOver(records []Record) error {
	for len(records) > 0 {
		b.skip(records[0].Number)
		n := b.run(records)
		if err := b.writeDay(records[:n]); err != nil {
			return err
		}
		records = records[n:]
	}
	return nil
}

func copyLost(from, to string) error {
	data, err := os.ReadFile(filepath.Join(from, lostName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, lostName), data, 0o640)
}
