package dev

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
)

// Ports that the processes use on their own addresses (design section 3).
const (
	replicaPort       = 15001
	momPort           = 15002
	replicaGossipPort = 15003
	momGossipPort     = 15004
)

// maxProcesses is what the addresses of one block hold.
const maxProcesses = 100

// freeNet returns the first three bytes of a block of loopback addresses in which
// nobody listens, so that several clusters live on one machine with the ports of
// production.
func freeNet(processes int) (string, error) {
	if processes > maxProcesses {
		return "", fmt.Errorf("%d processes: at most %d", processes, maxProcesses)
	}
	var last error
	for range 20 {
		block := "127." + strconv.Itoa(1+rand.IntN(254)) + "." + strconv.Itoa(1+rand.IntN(254))
		if last = free(block+".1", replicaPort); last == nil {
			return block, nil
		}
	}
	return "", errors.Join(errors.New("find loopback addresses for the cluster"), last)
}

func free(host string, port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return l.Close()
}

// freePorts returns the first of a row of ports at ::1, of which it has tried the first: there is
// one IPv6 loopback address only.
func freePorts() (int, error) {
	var last error
	for range 20 {
		port := 20_000 + 2*maxProcesses*rand.IntN(60)
		if last = free("::1", port); last == nil {
			return port, nil
		}
	}
	return 0, errors.Join(errors.New("find ports at ::1 for the cluster"), last)
}

// nth returns which of the processes one is.
func (p plan) nth(name string) int {
	if i := slices.Index(p.Replicas, name); i >= 0 {
		return i
	}
	return len(p.Replicas) + slices.IndexFunc(p.Moms, func(m Mom) bool { return m.Name == name })
}

func (p plan) listen(name string) string {
	port := momPort
	if p.isReplica(name) {
		port = replicaPort
	}
	if p.Port > 0 {
		port = p.Port + 2*p.nth(name)
	}
	return net.JoinHostPort(p.address(name).String(), strconv.Itoa(port))
}

func (p plan) gossip(name string) string {
	port := momGossipPort
	if p.isReplica(name) {
		port = replicaGossipPort
	}
	if p.Port > 0 {
		port = p.Port + 2*p.nth(name) + 1
	}
	return net.JoinHostPort(p.address(name).String(), strconv.Itoa(port))
}
