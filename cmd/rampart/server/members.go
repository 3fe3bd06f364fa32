package server

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"rampart/cmd/rampart/home"
)

// membersFile holds the addresses of the other replicas, as the state had them: a
// replica that starts with an empty disk, the one that made the cluster included, asks
// there to be taken in again.
const (
	membersFile  = "members.json"
	membersEvery = time.Second
)

type members struct {
	Replicas []string `json:"replicas"`
}

func (c Config) membersPath() string { return filepath.Join(c.Home.ServerPriv(), membersFile) }

// others returns the addresses to ask: those that the state last had, then those of the
// configuration.
func (c Config) others() ([]string, error) {
	var m members
	if err := home.ReadConfig(c.membersPath(), &m); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, address := range c.Replicas {
		if !slices.Contains(m.Replicas, address) {
			m.Replicas = append(m.Replicas, address)
		}
	}
	return m.Replicas, nil
}

// keepMembers writes down who the others are, whenever that changes.
func (s *Server) keepMembers(ctx context.Context) error {
	var written []string
	return look(ctx, membersEvery, func() {
		var now []string
		for r := range s.machine.View().Replicas() {
			if r.Address != "" && r.Address != s.config.Address() {
				now = append(now, r.Address)
			}
		}
		if len(now) == 0 || slices.Equal(now, written) {
			return
		}
		if err := home.WriteConfig(s.config.membersPath(), members{now}); err != nil {
			s.logger.Warn("write down who the others are", "error", err)
			return
		}
		written = now
	})
}
