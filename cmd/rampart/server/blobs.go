package server

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"rampart/cluster/blob"
	"rampart/cluster/member"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api/apiconnect"
)

// openBlobs opens what is kept beside the log, before there is a replica to ask.
func (s *Server) openBlobs() (err error) {
	s.blobs, err = blob.Open(blob.Config{
		Dir:     s.config.Home.Scripts(),
		View:    func() *state.View { return s.machine.View() },
		Changed: func() <-chan struct{} { return s.machine.Changed() },
		Members: s.blobMembers,
		Peer:    func(m blob.Member) blob.Peer { return blob.Remote{Client: s.peers.blobsAt(m.Address)} },
		Room:    func(bytes int64) error { return s.replica.RoomFor(bytes) },
		Logger:  s.logger, Registry: s.metrics.registry,
	})
	return err
}

func (s *Server) blobMembers() []blob.Member {
	var all []blob.Member
	for _, m := range s.replica.Members() {
		all = append(all, blob.Member{Name: string(m.Name), Address: m.Address, Voter: m.Voter, Self: m.Self})
	}
	return all
}

// blobsAt returns the client of a replica's blobs.
func (p *peers) blobsAt(address string) apiconnect.BlobsClient {
	return apiconnect.NewBlobsClient(&http.Client{Transport: p.transport}, "https://"+address, transport.Uncompressed())
}

// savedWhole takes a snapshot with the scripts that it names behind it.
func (s *Server) savedWhole(ctx context.Context) (io.ReadCloser, error) {
	return s.blobs.Attach(ctx, func(ctx context.Context) (io.ReadCloser, error) { return s.replica.Snapshot(ctx) })
}

// lookedForScripts returns what a leader waits for before this replica gets a vote: not for what nobody has.
func (s *Server) lookedForScripts() member.Scripts {
	l := s.blobs.Looked()
	return member.Scripts{Index: l.Index, Missing: l.Missing - l.Lost}
}

// missingScripts returns the alarm of a replica that lacks scripts which jobs have.
func (s *Server) missingScripts() []member.Alarm {
	n := s.blobs.Looked().Missing
	if n == 0 {
		return nil
	}
	return []member.Alarm{{
		Kind: member.AlarmScripts, Serves: true, Text: fmt.Sprintf("%d large job scripts are not here yet", n),
		Advice: "it fetches them from the other replicas; look whether these are reachable and there is room on the disk",
	}}
}
