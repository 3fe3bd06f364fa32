// Package directory looks accounts up on this host: in /etc/passwd and /etc/group, which need
// nobody else, and with getent, behind which LDAP or SSSD may hang.
package directory
