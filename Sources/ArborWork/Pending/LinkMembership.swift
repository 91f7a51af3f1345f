/// Whether a pending change makes an object a member of a relationship, whatever the store knows:
/// a link that is added or removed may be there, or not be there, already.
package enum LinkMembership { case added, removed, unmentioned }
