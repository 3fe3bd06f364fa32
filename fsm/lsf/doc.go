// Package lsf owns what LSF's words mean in the one job model (specification: reservation section
// 10): the vocabulary of states, reasons, resources and terms, both ways, from which the documents
// are printed; and which chunks and which placement a resource requirement is. What the commands
// print of it is cli/lsf's affair, what a requirement may say is resreq's. All values are immutable
// once built; nothing is started, so nothing stops.
package lsf
