// Package render owns how objects look: the tables of qstat and pbsnodes, the
// long form with its folding, JSON, DSV, and qmgr's list and print. It is pure:
// api objects and a time zone go in, text comes out on a writer, byte for byte as
// PBS prints it. It decides nothing about errors or exit statuses, starts
// nothing and keeps no state but that of a JSON document in the making.
package render
