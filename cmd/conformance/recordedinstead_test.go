package conformance

// instead are commands that are played in another form, so that what follows them can be
// compared.
var instead = map[string]string{
	// The login shell of a system's account runs no scripts.
	`echo "echo out; echo err >&2; exit 5" | qsub -N fails`: `echo "echo out; echo err >&2; exit 5" | qsub -S /bin/bash -N fails`,
	// The recorded job was on its way out at that moment; one that waits is refused in the same way.
	"qrerun 0.hosta": `qrerun 2.hosta 2>&1 | sed s/2.hosta/0.hosta/; exit ${PIPESTATUS[0]}`,
	// That signal would end the job, sooner or later; it is ended when the recorded one was over.
	"qsig -s USR1 0.hosta": "qsig -s CONT 0.hosta",
	"qdel 0.hosta":         "qsig -s KILL 0.hosta; until qstat -x 0.hosta | grep -q ' F '; do sleep 0.1; done; qdel 0.hosta",
}
