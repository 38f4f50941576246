// The least work that a first scan can be. It walks a folder, reads the first 64 KB of each file, passes its EXIF to
// libexif and writes one row to SQLite in transactions of 2,000. It has no identity, no history, no watches and no
// clients. photod has all of that, and is measured beside this program.
//
//   cc -O2 -Wall -Wextra -pthread -o limit limit.c -lexif -lsqlite3
//   limit [-t THREADS] FOLDER NEW-DATABASE
//
// With one thread (the default), that thread does everything. With more, the additional threads read and parse. The
// main thread then only waits, and inserts finished photos in the order of the walk.
//
// It prints one line of JSON: the number of files, how many of them have a date, dimensions and a position, the seconds
// of each phase, and the peak of resident memory.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <libexif/exif-data.h>
#include <sqlite3.h>

enum { HEAD_BYTES = 65536, BATCH = 2000, CHUNK = 64, MOST_THREADS = 64 };

struct photo {
  char path[200];  // below the folder; longer paths are cut off, which no generated corpus has
  int64_t size, mtime_ns, inode;
  int width, height, orientation, iso, has_position;
  char date[20], make[32], model[40];
  double latitude, longitude;
};

static struct photo *photos;
static size_t photo_count, photo_capacity, root_length;
static int root_descriptor;
static sqlite3 *database;
static sqlite3_stmt *insertion;

// The reading threads share the number of the next free chunk of photos, and the list of finished chunks.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t chunk_done = PTHREAD_COND_INITIALIZER;
static size_t next_chunk, chunk_count;
static char *is_done;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static void add(const char *path, const struct stat *status) {
  if (photo_count == photo_capacity) {
    photo_capacity = photo_capacity ? photo_capacity * 2 : 8192;
    photos = realloc(photos, photo_capacity * sizeof *photos);
    if (!photos) fail("memory");
  }
  struct photo *photo = &photos[photo_count++];
  memset(photo, 0, sizeof *photo);
  snprintf(photo->path, sizeof photo->path, "%s", path + root_length + 1);
  photo->size = status->st_size;
  photo->mtime_ns = status->st_mtim.tv_sec * INT64_C(1000000000) + status->st_mtim.tv_nsec;
  photo->inode = (int64_t)status->st_ino;
}

// `path` is that of the directory, with `length` bytes in a buffer of PATH_MAX. The function closes the descriptor.
static void crawl(int descriptor, char *path, size_t length) {
  DIR *directory = fdopendir(descriptor);
  if (!directory) fail(path);
  struct dirent *entry;
  while ((entry = readdir(directory))) {
    if (entry->d_name[0] == '.') continue;
    size_t name_length = strlen(entry->d_name);
    if (length + 1 + name_length >= 4000) continue;
    path[length] = '/';
    memcpy(path + length + 1, entry->d_name, name_length + 1);
    if (entry->d_type == DT_DIR) {
      int child = openat(descriptor, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      if (child >= 0) crawl(child, path, length + 1 + name_length);
      continue;
    }
    struct stat status;
    if (fstatat(descriptor, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode))
      add(path, &status);
  }
  closedir(directory);
}

static void copy_text(ExifData *exif, ExifIfd directory, ExifTag tag, char *target, size_t size) {
  ExifEntry *entry = exif_content_get_entry(exif->ifd[directory], tag);
  if (!entry || !entry->data) return;
  size_t length = entry->size < size ? entry->size : size - 1;
  memcpy(target, entry->data, length);
  target[length] = 0;
}

static int integer(ExifData *exif, ExifIfd directory, ExifTag tag) {
  ExifEntry *entry = exif_content_get_entry(exif->ifd[directory], tag);
  return entry && entry->size >= 2 ? exif_get_short(entry->data, exif_data_get_byte_order(exif)) : 0;
}

// The GPS tags, by their numbers: 1 and 3 name the hemisphere, 2 and 4 are degrees, minutes and seconds.
static int coordinate(ExifData *exif, int tag, double *degrees) {
  ExifContent *content = exif->ifd[EXIF_IFD_GPS];
  ExifEntry *value = exif_content_get_entry(content, (ExifTag)tag);
  ExifEntry *hemisphere = exif_content_get_entry(content, (ExifTag)(tag - 1));
  if (!value || value->size < 24) return 0;
  static const double units[] = {1, 60, 3600};
  for (int part = 0; part < 3; part++) {
    ExifRational fraction = exif_get_rational(value->data + 8 * part, exif_data_get_byte_order(exif));
    if (fraction.denominator) *degrees += (double)fraction.numerator / fraction.denominator / units[part];
  }
  if (hemisphere && hemisphere->size > 0 && (hemisphere->data[0] == 'S' || hemisphere->data[0] == 'W'))
    *degrees = -*degrees;
  return 1;
}

static void parse(struct photo *photo, const uint8_t *head, size_t count) {
  if (count < 4 || head[0] != 0xFF || head[1] != 0xD8) return;
  const uint8_t *block = NULL;
  unsigned block_length = 0;
  for (size_t i = 2; i + 4 <= count && head[i] == 0xFF;) {
    unsigned marker = head[i + 1], length = (unsigned)head[i + 2] << 8 | head[i + 3];
    if (marker == 0xE1 && !block && length >= 8 && i + 2 + length <= count && !memcmp(head + i + 4, "Exif\0\0", 6)) {
      block = head + i + 4;
      block_length = length - 2;
    }
    int is_frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (is_frame && i + 9 <= count) {
      photo->height = head[i + 5] << 8 | head[i + 6];
      photo->width = head[i + 7] << 8 | head[i + 8];
      break;
    }
    if (marker == 0xDA) break;
    i += 2 + length;
  }
  if (!block) return;
  ExifData *exif = exif_data_new();
  if (!exif) fail("libexif");
  exif_data_unset_option(exif, EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
  exif_data_load_data(exif, block, block_length);
  copy_text(exif, EXIF_IFD_0, EXIF_TAG_MAKE, photo->make, sizeof photo->make);
  copy_text(exif, EXIF_IFD_0, EXIF_TAG_MODEL, photo->model, sizeof photo->model);
  copy_text(exif, EXIF_IFD_EXIF, EXIF_TAG_DATE_TIME_ORIGINAL, photo->date, sizeof photo->date);
  photo->orientation = integer(exif, EXIF_IFD_0, EXIF_TAG_ORIENTATION);
  photo->iso = integer(exif, EXIF_IFD_EXIF, EXIF_TAG_ISO_SPEED_RATINGS);
  photo->has_position = coordinate(exif, 2, &photo->latitude) && coordinate(exif, 4, &photo->longitude);
  exif_data_unref(exif);
}

static void run(const char *sql) {
  char *message = NULL;
  if (sqlite3_exec(database, sql, NULL, NULL, &message) == SQLITE_OK) return;
  fprintf(stderr, "%s: %s\n", sql, message);
  exit(1);
}

static void bind_text(int index, const char *text) { sqlite3_bind_text(insertion, index, text, -1, SQLITE_STATIC); }

static void insert(const struct photo *photo) {
  bind_text(1, photo->path);
  sqlite3_bind_int64(insertion, 2, photo->size);
  sqlite3_bind_int64(insertion, 3, photo->mtime_ns);
  sqlite3_bind_int64(insertion, 4, photo->inode);
  if (photo->date[0]) bind_text(5, photo->date);
  else sqlite3_bind_null(insertion, 5);
  sqlite3_bind_int(insertion, 6, photo->width);
  sqlite3_bind_int(insertion, 7, photo->height);
  sqlite3_bind_int(insertion, 8, photo->orientation);
  bind_text(9, photo->make);
  bind_text(10, photo->model);
  sqlite3_bind_int(insertion, 11, photo->iso);
  if (photo->has_position) {
    sqlite3_bind_double(insertion, 12, photo->latitude);
    sqlite3_bind_double(insertion, 13, photo->longitude);
  } else {
    sqlite3_bind_null(insertion, 12);
    sqlite3_bind_null(insertion, 13);
  }
  if (sqlite3_step(insertion) != SQLITE_DONE) {
    fprintf(stderr, "%s: %s\n", photo->path, sqlite3_errmsg(database));
    exit(1);
  }
  sqlite3_reset(insertion);
}

static void read_chunk(size_t chunk, uint8_t *head) {
  for (size_t i = chunk * CHUNK; i < photo_count && i < (chunk + 1) * CHUNK; i++) {
    int file = openat(root_descriptor, photos[i].path, O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    ssize_t count = read(file, head, HEAD_BYTES);
    close(file);
    if (count > 0) parse(&photos[i], head, (size_t)count);
  }
}

static void insert_chunk(size_t chunk) {
  for (size_t i = chunk * CHUNK; i < photo_count && i < (chunk + 1) * CHUNK; i++) {
    if (i % BATCH == 0) run("BEGIN");
    insert(&photos[i]);
    if ((i + 1) % BATCH == 0 || i + 1 == photo_count) run("COMMIT");
  }
}

static void *read_chunks(void *unused) {
  (void)unused;
  uint8_t *head = malloc(HEAD_BYTES);
  if (!head) fail("memory");
  for (;;) {
    pthread_mutex_lock(&mutex);
    size_t chunk = next_chunk++;
    pthread_mutex_unlock(&mutex);
    if (chunk >= chunk_count) break;
    read_chunk(chunk, head);
    pthread_mutex_lock(&mutex);
    is_done[chunk] = 1;
    pthread_cond_signal(&chunk_done);
    pthread_mutex_unlock(&mutex);
  }
  free(head);
  return NULL;
}

// Reads and inserts every photo.
static void work(int thread_count) {
  chunk_count = (photo_count + CHUNK - 1) / CHUNK;
  if (thread_count == 1) {
    static uint8_t head[HEAD_BYTES];
    for (size_t chunk = 0; chunk < chunk_count; chunk++) {
      read_chunk(chunk, head);
      insert_chunk(chunk);
    }
    return;
  }
  is_done = calloc(chunk_count + 1, 1);
  if (!is_done) fail("memory");
  pthread_t threads[MOST_THREADS];
  for (int i = 0; i < thread_count; i++)
    if (pthread_create(&threads[i], NULL, read_chunks, NULL) != 0) fail("thread");
  for (size_t chunk = 0; chunk < chunk_count; chunk++) {
    pthread_mutex_lock(&mutex);
    while (!is_done[chunk]) pthread_cond_wait(&chunk_done, &mutex);
    pthread_mutex_unlock(&mutex);
    insert_chunk(chunk);
  }
  for (int i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
  free(is_done);
}

// getrusage(2) is not used, because its peak includes that of the program before the exec(2).
static long peak_kilobytes(void) {
  FILE *status = fopen("/proc/self/status", "re");
  if (!status) fail("/proc/self/status");
  char line[256];
  long kilobytes = 0;
  while (fgets(line, sizeof line, status))
    if (sscanf(line, "VmHWM: %ld", &kilobytes) == 1) break;
  fclose(status);
  return kilobytes;
}

static int usage(void) {
  fprintf(stderr, "usage: limit [-t THREADS] FOLDER NEW-DATABASE\n");
  return 64;
}

int main(int argc, char **argv) {
  int thread_count = 1, option;
  while ((option = getopt(argc, argv, "t:")) != -1) {
    if (option != 't') return usage();
    thread_count = atoi(optarg);
  }
  if (argc - optind != 2 || thread_count < 1 || thread_count > MOST_THREADS) return usage();
  const char *folder = argv[optind], *target = argv[optind + 1];
  double start = now();
  static char path[4096];
  root_length = strlen(folder);
  if (root_length >= 3000) return 64;
  memcpy(path, folder, root_length + 1);
  root_descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root_descriptor < 0) fail(folder);
  int top = dup(root_descriptor);
  if (top < 0) fail(folder);
  crawl(top, path, root_length);
  double crawled = now();

  if (sqlite3_open(target, &database) != SQLITE_OK) fail(target);
  run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
      "CREATE TABLE photo (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INT, mtime_ns INT, ino INT,"
      " taken TEXT, w INT, h INT, orient INT, make TEXT, model TEXT, iso INT, lat REAL, lon REAL);"
      "CREATE INDEX photo_taken ON photo (taken);");
  if (sqlite3_prepare_v2(
        database,
        "INSERT INTO photo (path, size, mtime_ns, ino, taken, w, h, orient, make, model, iso, lat, lon)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        -1, &insertion, NULL) != SQLITE_OK) {
    fprintf(stderr, "%s\n", sqlite3_errmsg(database));
    return 1;
  }
  work(thread_count);
  double worked = now();
  sqlite3_finalize(insertion);
  if (sqlite3_close(database) != SQLITE_OK) fail(target);
  double closed = now();
  size_t dated = 0, sized = 0, placed = 0;
  for (size_t i = 0; i < photo_count; i++) {
    dated += photos[i].date[0] != 0;
    sized += photos[i].width > 0;
    placed += photos[i].has_position != 0;
  }
  printf(
    "{\"peak_kb\": %ld, \"files\": %zu, \"dated\": %zu, \"sized\": %zu, \"placed\": %zu, \"crawl_s\": %.4f, \"work_s\": %.4f,"
    " \"close_s\": %.4f, \"total_s\": %.4f}\n",
    peak_kilobytes(), photo_count, dated, sized, placed, crawled - start, worked - crawled, closed - worked, closed - start);
  return 0;
}
