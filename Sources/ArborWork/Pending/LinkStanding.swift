/// What is said of whether an object is a member of a relationship, whatever the store knows: a
/// link that is added or removed may be there, or not be there, already.
package enum LinkStanding { case added, removed, unmentioned }
