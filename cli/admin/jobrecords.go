package admin

import (
	"context"
	"fmt"
	"time"

	"rampart/cli"
	"rampart/cli/timeline"
)

// records asks a replica; lacking says that it does not have the latest ones yet.
func records(ctx context.Context, env *Env, o TimelineOptions) (j *timeline.Job, lacking bool, err error) {
	client, err := env.Cluster(o.Server)
	if err != nil {
		return nil, false, err
	}
	head, lines, err := cli.JobRecords(ctx, client, o.Job, uint32(min(o.Days, 36500)))
	if err != nil {
		return nil, false, fmt.Errorf("job timeline: %s: %w", o.Job, err)
	}
	if len(lines) == 0 {
		return nil, false, fmt.Errorf("job timeline: %s: no records of this job: if it is older than a week, --days says how far to look back", head.GetJob())
	}
	zone, err := time.LoadLocation(head.GetZone())
	if err != nil { // this host does not know it
		zone = time.UTC
	}
	return timeline.Read(head.GetJob(), lines, zone, time.Unix(head.GetNow(), 0)), head.GetLacking(), nil
}
