/// The objects whose records an operation has read, if their class overrides `awakeFromFetch`. The
/// hook is called when no snapshot is open and every object is in place.
struct FetchedObjects {
  private var objects: [ManagedObject] = []

  @inline(__always)
  mutating func append(_ object: ManagedObject) {
    if object.binding.hooks.contains(.awakeFromFetch) { objects.append(object) }
  }

  /// Adds objects whose records were read and which have one binding.
  mutating func append(_ made: UnsafeBufferPointer<ManagedObject>, of binding: EntityBinding) {
    if binding.hooks.contains(.awakeFromFetch) { objects += made }
  }

  /// Calls the hooks in the order in which the objects were read.
  func awake() {
    for object in objects { object.awakeFromFetch() }
  }
}
