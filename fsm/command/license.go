package command

import (
	"fmt"
	"strconv"
	"time"

	"rampart/fsm/state"
)

// countLicenses keeps how many cpus were in use at most, and writes it down once an hour.
// There is nothing to license: sites that read the records find what they expect.
func countLicenses(tx *state.Tx) {
	used := int64(0)
	if text, ok := tx.AssignedToJobs().Get("ncpus"); ok {
		used, _ = strconv.ParseInt(text, 10, 64)
	}
	was := state.Licenses{}
	if l := tx.Cluster().Licenses; l != nil {
		was = *l
	}
	now := time.Unix(0, int64(tx.Now())).UTC()
	next := was
	next.Used, next.Max = used, max(was.Max, used)
	if hour := now.Unix() / 3600; hour != was.Hour {
		if was.Hour != 0 {
			tx.Emit(state.Event{Kind: state.LicensesCounted, Object: "license", Text: fmt.Sprintf(
				"floating license hour:%d day:%d month:%d max:%d", was.InHour, was.InDay, was.InMonth, was.Max)})
		}
		then := time.Unix(was.Hour*3600, 0).UTC()
		next.Hour, next.InHour = hour, 0
		if now.YearDay() != then.YearDay() || now.Year() != then.Year() {
			next.InDay = 0
		}
		if now.Month() != then.Month() || now.Year() != then.Year() {
			next.InMonth = 0
		}
	}
	next.InHour, next.InDay, next.InMonth = max(next.InHour, used), max(next.InDay, used), max(next.InMonth, used)
	if next != was {
		tx.EditCluster().Licenses = &next
	}
}
