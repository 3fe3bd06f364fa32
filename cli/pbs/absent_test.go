package pbs

import (
	"slices"
	"strings"
	"testing"
)

// TestAbsent_EveryNameOfPBS: whatever program an OpenPBS 23.06 has in bin and sbin, and that is not
// rampart's (cmd/rampart/dropin), is a command here, or says in one line what does its job.
func TestAbsent_EveryNameOfPBS(t *testing.T) {
	const bin = `mpiexec nqs2pbs pbs_attach pbs_hostn pbs_lamboot pbs_mpihp pbs_mpilam pbs_mpirun pbs_python pbs_ralter pbs_rdel
		pbs_release_nodes pbs_remsh pbs_rmget pbs_rstat pbs_rsub pbs_sleep pbs_tclsh pbs_tmrsh pbs_wish pbsdsh pbsnodes pbsrun pbsrun_unwrap
		pbsrun_wrap printjob.bin printjob_host.bin printjob_svr.bin qalter qdel qdisable qenable qhold qmgr qmove qmsg
		qorder qrerun qrls qrun qselect qsig qstart qstat qstop qsub qterm tracejob`
	const sbin = `pbs_dataservice pbs_ds_monitor pbs_ds_password pbs_ds_password.bin pbs_idled pbs_iff pbs_mkdirs pbs_rcp
		pbs_server.bin pbs_snapshot pbs_topologyinfo pbs_upgrade_job`
	var commands []string
	for _, c := range Commands() {
		commands = append(commands, c.Name)
	}
	commands = append(commands, LocalNames()...)
	for _, f := range []struct {
		want string
		have []string
	}{{bin, append(slices.Clone(commands), AbsentNames(false)...)}, {sbin, AbsentNames(true)}} {
		for name := range strings.FieldsSeq(f.want) {
			if !slices.Contains(f.have, name) {
				t.Errorf("there is no %s", name)
			}
		}
	}
	for _, a := range absents {
		if a.Instead == "" || strings.ContainsAny(a.String(), "\n\r") || slices.Contains(commands, a.Name) {
			t.Errorf("%q", a)
		}
	}
}
