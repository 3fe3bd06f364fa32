package lsf

import (
	"context"
	"fmt"
	"strings"

	"rampart/cli"
	"rampart/fsm/lsf"
	"rampart/fsm/lsf/conf"
	"rampart/fsm/resource"
)

func bresources() *cli.Command {
	return command("bresources", "show limits, and how resources are reserved", "bresources [-h] [-V] [-s [resource_name ...]]\n", cli.Grammar{Letters: "s"},
		func(ctx context.Context, s *session, opts *cli.Options) error {
			c, err := s.configuration(ctx)
			switch {
			case err != nil:
				return err
			case opts.Has("s"):
				return s.reservationUsage(c, opts.Operands)
			case len(opts.Operands) > 0:
				return told("bresources: names are for -s")
			}
			return s.limits(c)
		})
}

// configuration reads what a site has configured.
func (s *session) configuration(ctx context.Context) (lsf.Config, error) {
	files, err := s.configurationFiles(ctx)
	if err != nil {
		return lsf.Config{}, err
	}
	named := make([]conf.Named, 0, len(files))
	for _, f := range files {
		named = append(named, conf.Named{Name: f.GetName(), Text: string(f.GetText())})
	}
	c, _ := conf.Read(conf.FilesOf(named...), conf.Known{}) // what was checked once is not checked again
	return c.Config, nil
}

// known returns the resources of the cluster, and what a site has configured.
func (s *session) known(ctx context.Context) ([]resource.Def, lsf.Config, error) {
	defs, err := s.resources(ctx)
	if err != nil {
		return nil, lsf.Config{}, err
	}
	c, err := s.configuration(ctx)
	return defs, c, err
}

// limits prints the sections Limit as they are configured.
func (s *session) limits(c lsf.Config) error {
	if len(c.Limits) == 0 {
		return told("No resource limits configured")
	}
	var b strings.Builder
	for _, l := range c.Limits {
		conf.WriteLimit(&b, l)
	}
	_, err := fmt.Fprint(s.env.Stdout, b.String())
	return err
}

// reservationUsage prints the rows of ReservationUsage (specification: reservation section 9.5).
func (s *session) reservationUsage(c lsf.Config, names []string) error {
	if len(c.Usage) == 0 && len(names) == 0 {
		_, err := fmt.Fprintln(s.env.Stdout, "No resource reservation usage configured")
		return err
	}
	var rows strings.Builder
	row := func(u lsf.UsageRow) { fmt.Fprintf(&rows, "%-20s %s\n", u.Resource, u.Method) }
	if len(names) == 0 {
		for _, u := range c.Usage {
			row(u)
		}
		_, err := fmt.Fprintf(s.env.Stdout, "Begin ReservationUsage\n%-20s METHOD\n%sEnd ReservationUsage\n", "RESOURCE", rows.String())
		return err
	}
	for _, name := range names {
		found := false
		for _, u := range c.Usage {
			if u.Resource == name {
				row(u)
				found = true
			}
		}
		if !found {
			s.complain(name + ": No reservation usage is configured for this resource")
		}
	}
	if rows.Len() == 0 {
		return nil
	}
	_, err := fmt.Fprintf(s.env.Stdout, "%-20s METHOD\n%s", "RESOURCE", rows.String())
	return err
}
