package service

import "rampart/transport/api"

// A Build is the build that a member of gossip announces.
type Build struct {
	Name    string
	Version string // of PBS
	Build   string // of Rampart
	Level   uint32 // the feature level that it knows; 0: it does not say
}

// moms tells what the moms run, as this replica hears them.
func (c *Cluster) moms() []*api.Build {
	if c.Moms == nil {
		return nil
	}
	var all []*api.Build
	for _, b := range c.Moms() {
		all = append(all, &api.Build{Name: b.Name, Version: b.Version, FeatureLevel: b.Level, Build: b.Build})
	}
	return all
}
