package server

import (
	"rampart/cluster/service"
	"rampart/transport"
)

// momBuilds returns what the moms run that gossip hears, by their names.
func (s *Server) momBuilds() []service.Build {
	var all []service.Build
	for _, m := range s.gossip.Members() {
		if m.Meta.Role == string(transport.RoleMom) {
			all = append(all, service.Build{Name: m.Name, Version: m.Meta.Version, Level: m.Meta.Level, Build: m.Meta.Build})
		}
	}
	return all
}
