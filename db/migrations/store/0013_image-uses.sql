CREATE TABLE `image_uses` (
	`media_id` text NOT NULL,
	`place` text NOT NULL,
	`subject_id` text NOT NULL,
	PRIMARY KEY(`media_id`, `place`, `subject_id`)
) STRICT;
