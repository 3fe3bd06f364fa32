package client

import "rampart/transport/api/apiconnect"

// Snapshots returns the client of putting a state back.
func (c *Client) Snapshots() apiconnect.SnapshotsClient {
	return apiconnect.NewSnapshotsClient(c.http, baseURL, c.connect...)
}
