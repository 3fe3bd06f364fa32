package dev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// clusterStatus is what we need of `rampart cluster status --json`.
type clusterStatus struct {
	Replicas []struct {
		Name string `json:"name"`
		Role string `json:"role"`
	} `json:"replicas"`
}

func (s clusterStatus) hasLeader() bool { return s.count("leader") == 1 }

func (s clusterStatus) count(role string) int {
	n := 0
	for _, r := range s.Replicas {
		if r.Role == role {
			n++
		}
	}
	return n
}

func (c *cluster) status(ctx context.Context) (clusterStatus, error) {
	var s clusterStatus
	out, err := c.run(ctx, c.opts.Binary, "cluster", "status", "--json")
	if err != nil && out == "" { // its exit status tells health
		return s, err
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		return s, fmt.Errorf("read the cluster's status: %w", err)
	}
	return s, nil
}

// up waits until every replica votes and every vnode is up.
func (c *cluster) up(ctx context.Context) error {
	err := c.until(ctx, "all replicas to vote", func() error {
		s, err := c.status(ctx)
		if err != nil {
			return err
		}
		if !s.hasLeader() || s.count("follower") != len(c.plan.Replicas)-1 {
			return fmt.Errorf("replicas: %+v", s.Replicas)
		}
		return nil
	})
	if err != nil || len(c.plan.Moms) == 0 {
		return err
	}
	return c.until(ctx, "all moms to be up", func() error { return c.vnodesUp(ctx, c.plan.Moms...) })
}

func (c *cluster) vnodesUp(ctx context.Context, moms ...Mom) error {
	out, err := c.run(ctx, filepath.Join(c.bin(), "pbsnodes"), "-av", "-F", "json")
	if err != nil {
		return err
	}
	var seen struct {
		Nodes map[string]struct {
			State string `json:"state"`
		} `json:"nodes"`
	}
	if err := json.Unmarshal([]byte(out), &seen); err != nil {
		return fmt.Errorf("read the vnodes: %w", err)
	}
	var missing []string
	for _, m := range moms {
		for _, v := range m.Vnodes {
			n, known := seen.Nodes[v.Name]
			if !known || strings.Contains(n.State, "down") || strings.Contains(n.State, "unknown") {
				missing = append(missing, v.Name)
			}
		}
	}
	if len(missing) > 0 {
		return errors.New("not up: " + strings.Join(missing, ", "))
	}
	return nil
}
