package acct

import (
	"archive/zip"
	_ "embed" // zoneinfo.zip
	"io"
	"strings"
	"time"
)

// zoneinfo is the time zone database, from the Go distribution (lib/time). Hosts
// have databases of different age, and with them the replicas would put a record
// into files of different days.
//
//go:embed zoneinfo.zip
var zoneinfo string

// Zone returns the time zone of accounting and of the server's day files, the same
// on every replica; UTC if the attribute names none that is known.
func Zone(name string) *time.Location {
	data, err := zoneData(name)
	if err != nil {
		return time.UTC
	}
	zone, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return time.UTC
	}
	return zone
}

// IsZone reports whether the name is one of the time zones that Zone knows.
func IsZone(name string) bool {
	data, err := zoneData(name)
	if err != nil {
		return false
	}
	_, err = time.LoadLocationFromTZData(name, data)
	return err == nil
}

func zoneData(name string) ([]byte, error) {
	all, err := zip.NewReader(strings.NewReader(zoneinfo), int64(len(zoneinfo)))
	if err != nil {
		return nil, err
	}
	f, err := all.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return data, f.Close()
}
