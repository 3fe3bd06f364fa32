package conformance

// instead are commands that are played in another form, so that what follows them can be
// compared.
var instead = map[string]string{
	// The recorded job was on its way out at that moment; one that waits is refused in the same way.
	"qrerun 0.hosta": `qrerun 2.hosta 2>&1 | sed s/2.hosta/0.hosta/; exit ${PIPESTATUS[0]}`,
	// That signal would end the job, sooner or later; it is ended when the recorded one was over.
	"qsig -s USR1 0.hosta": "qsig -s CONT 0.hosta",
	"qdel 0.hosta":         "qsig -s KILL 0.hosta; until qstat -x 0.hosta | grep -q ' F '; do sleep 0.1; done; qdel 0.hosta",
}

// Why blocks are open.
const (
	whole = "it shows files of the installation as a whole; their lines are tested by the cases AC and LG"
)

// openBlocks are the recorded commands whose output differs, and why.
var openBlocks = map[string]string{
	"tracejob 5.hosta": "the daemons of a PBS log other lines than ours beside those of logs.md",
	"cat /var/spool/pbs/server_priv/accounting/$(date +%Y%m%d) | tail -20": whole,
	"tail -25 /var/spool/pbs/server_logs/$(date +%Y%m%d)":                  whole,
	"tail -15 /var/spool/pbs/mom_logs/$(date +%Y%m%d)":                     whole,
	"tail -15 /var/spool/pbs/sched_logs/$(date +%Y%m%d)":                   whole,
}
