/// The objects that an operation has loaded and whose class overrides `awakeFromFetch`. Other
/// objects are not kept. The hook is called when no snapshot is open and every object is in place.
struct FetchedObjects {
  private var objects: [ManagedObject] = []

  @inline(__always)
  mutating func append(_ object: ManagedObject) {
    if object.binding.hooks.contains(.awakeFromFetch) { objects.append(object) }
  }

  /// Adds loaded objects with the same binding.
  mutating func append(_ made: UnsafeBufferPointer<ManagedObject>, of binding: EntityBinding) {
    if binding.hooks.contains(.awakeFromFetch) { objects += made }
  }

  /// Calls the hooks in the order in which the objects were loaded.
  func awake() {
    for object in objects { object.awakeFromFetch() }
  }
}
