package check

// NoJobLost is L1: what was acknowledged is there. Every job that a client was
// told of exists on every replica, has come to its end, and is accounted for.
var NoJobLost = Law{Name: "L1 no job lost", Judge: noJobLost}

func noJobLost(e *Evidence) []string {
	var f faults
	if len(e.Replicas) == 0 {
		f.add("there is no replica")
	}
	for _, r := range e.Replicas {
		books := recordsByJob(r, &f)
		for _, o := range e.History {
			if o.Result == Done && o.Kind == Submit {
				judgeJob(&f, e, r, o, books[o.Job])
			}
		}
	}
	return f
}

func judgeJob(f *faults, e *Evidence, r Replica, o Op, book []record) {
	j, ok := r.job(o.Job)
	switch {
	case !ok:
		f.add("%s was acknowledged, %s does not have it: %s", o.Job, r.Name, o)
	case j.State != "F":
		f.add("%s is in state %s at the end on %s", o.Job, j.State, r.Name)
	}
	if n := countOf(book, "Q"); n != 1 {
		f.add("%s has %d Q records on %s, want 1", o.Job, n, r.Name)
	}
	ends, asked := countOf(book, "E"), countOf(book, "D")
	if o.Once && len(e.Fences) > 0 { // its start may not have been told
		ends += countOf(book, "A")
	}
	if ends == 0 && asked == 0 {
		f.add("%s has no E record on %s and was not deleted", o.Job, r.Name)
	}
	if asked > 0 && !deletionTried(e, o.Name) && e.Asked[Wish{Delete, o.Job}] == 0 {
		f.add("%s has a D record on %s, and nobody has deleted it", o.Job, r.Name)
	}
}

func deletionTried(e *Evidence, name string) bool {
	for _, o := range e.History {
		if o.Kind == Delete && o.Name == name && (o.Result == Done || o.Result == Unknown) {
			return true
		}
	}
	return false
}

// OneJobPerRequest is L8: however often a request was repeated, it took effect
// once.
var OneJobPerRequest = Law{Name: "L8 one job per request", Judge: oneJobPerRequest}

func oneJobPerRequest(e *Evidence) []string {
	var f faults
	for _, r := range e.Replicas {
		for _, name := range e.History.names() {
			if jobs := r.named(name); len(jobs) > 1 {
				f.add("%s was submitted once, %s has it %d times: %v", name, r.Name, len(jobs), jobs)
			}
		}
		for id, book := range recordsByJob(r, &f) {
			if n, most := countOf(book, "a"), e.History.tried(Alter, id); n > most {
				f.add("%s was altered %d times at most, %s has %d records of it", id, most, r.Name, n)
			}
		}
	}
	return f
}

// TrueAnswers is L6: a reply follows the commit, so what a client was told is so.
var TrueAnswers = Law{Name: "L6 true answers", Judge: trueAnswers}

func trueAnswers(e *Evidence) []string {
	var f faults
	for _, r := range e.Replicas {
		books := recordsByJob(r, &f)
		for _, o := range e.History {
			judgeAnswer(&f, r, o, books)
		}
		for _, j := range r.Jobs {
			if !asked(e.History, j.Name) {
				f.add("%s has job %s named %q, which nobody submitted", r.Name, j.ID, j.Name)
			}
		}
	}
	return f
}

func judgeAnswer(f *faults, r Replica, o Op, books map[string][]record) {
	switch {
	case o.Kind == Submit && o.Result == Done:
		if j, ok := r.job(o.Job); ok && j.Name != o.Name {
			f.add("the client was told that %s is %s, on %s that is %s", o.Name, o.Job, r.Name, j.Name)
		}
	case o.Kind == Submit && (o.Result == Refused || o.Result == Failed):
		if jobs := r.named(o.Name); len(jobs) > 0 {
			f.add("the submission of %s was %s, %s has it as %s", o.Name, o.Result, r.Name, jobs[0].ID)
		}
	case o.Kind == Delete && o.Result == Done:
		if countOf(books[o.Job], "D") == 0 {
			f.add("the deletion of %s was acknowledged and has no D record on %s", o.Job, r.Name)
		}
	case o.Kind == Rerun && o.Result == Done && !isArray(o.Job):
		// A run of which accounting saw no start has no R record.
		if j, ok := r.job(o.Job); ok && j.Run < 2 && countOf(books[o.Job], "D") == 0 {
			f.add("the rerun of %s was acknowledged, and %s has run %d of it", o.Job, r.Name, j.Run)
		}
	}
}

func asked(h History, name string) bool {
	for _, o := range h {
		if (o.Kind == Submit || o.Kind == SubmitInside) && o.Name == name {
			return true
		}
	}
	return false
}
